import { describe, expect, it } from 'vitest';
import { createRedactor, defaultRuleset, type Rule, type Ruleset } from '../../src/redact/index.ts';
import { redactByteByByte, redactSplitAt, redactWhole } from './engine.ts';

describe('every rule of the default ruleset', () => {
  it.each(defaultRuleset.rules.map((rule) => [rule.id, rule] as const))('%s', (id, rule) => {
    const redactor = createRedactor({ ruleset: { id: 'one', version: '1', rules: [rule] } });
    const input = Buffer.from(`before ${rule.example.join('')} after\n`);
    const whole = redactWhole(redactor, input);
    expect(whole.output.toString()).toContain(`[REDACTED:${id}]`);
    expect(whole.totals.hits).toEqual([{ type: id, count: 1 }]);
    expect(whole.output.toString()).not.toContain(rule.example.at(-1));
    expect(redactByteByByte(redactor, input)).toEqual(whole);
    for (let position = 1; position < input.length; position++) {
      const split = redactSplitAt(redactor, input, position);
      expect(split.output.toString()).toBe(whole.output.toString());
      expect(split.totals).toEqual(whole.totals);
    }
  });
});

it('knows at least thirty formats, in the order in which their names win', () => {
  expect(defaultRuleset.rules.length).toBeGreaterThan(75);
  expect(defaultRuleset.rules.at(-1)?.id).toBe('assignment');
});

describe('the ruleset', () => {
  it('has a digest over its data', () => {
    const { ruleset } = createRedactor();
    expect(ruleset).toMatchObject({ id: 'command-receipts', version: defaultRuleset.version });
    expect(ruleset.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('has another digest after any change, but not for a hook', () => {
    const [first, ...rest] = defaultRuleset.rules;
    if (first === undefined) throw new Error('no rules');
    const digest = (rules: readonly Rule[]) => createRedactor({ ruleset: { ...defaultRuleset, rules } }).ruleset.digest;
    expect(digest(rest)).not.toBe(digest(defaultRuleset.rules));
    expect(digest([{ ...first, verify: () => true }, ...rest])).toBe(digest(defaultRuleset.rules));
  });
});

describe('a ruleset is refused', () => {
  const rule: Rule = {
    kind: 'token',
    id: 'synthetic',
    anchors: ['syn_'],
    charset: 'a-z',
    minimum: 8,
    example: ['syn_', 'x'.repeat(8)],
  };
  const ruleset = (...rules: readonly Rule[]): Ruleset => ({ id: 'test', version: '1', rules });

  it.each([
    ['an example that its rule does not redact', ruleset({ ...rule, example: ['syn_', 'x'] })],
    ['an id used twice', ruleset(rule, rule)],
    ['the id of the literals', ruleset({ ...rule, id: 'literal' })],
    ['an id that is no id', ruleset({ ...rule, id: 'Not an id' })],
    ['an anchor too short to look for', ruleset({ ...rule, anchors: ['s_'] })],
  ])('for %s', (_reason, refused) => {
    expect(() => createRedactor({ ruleset: refused })).toThrow(expect.objectContaining({ code: 'REDACTION_FAILED' }));
  });
});

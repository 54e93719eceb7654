import { describe, expect, it } from 'vitest';
import { classOf } from '../../src/policy/environment.ts';
import { builtInPolicy, decide, openingTerms, parseDuration, planEnvironment } from '../../src/policy/index.ts';
import { parsePolicy } from '../../src/policy/parse.ts';

const NODE = { path: '/usr/bin/node', sha256: 'a'.repeat(64) };

describe('policy', () => {
  it('allows everything where there is none, and has a digest', () => {
    const policy = builtInPolicy();
    expect(decide(policy, { argv: ['anything'] }, undefined)).toMatchObject({ outcome: 'ALLOW', rule: 'default' });
    expect(policy.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(decide(policy, { argv: ['x'] }, NODE).terms).toMatchObject({ keepBodies: true, timeoutMs: undefined });
  });

  it('decides by the first rule that fits argv and the opened program', () => {
    const policy = parsePolicy(
      `
version: 1
default: deny
commands:
  - { id: no-npm, argv: [npm, publish, '**'], outcome: deny }
  - { id: npm, argv: [npm, '**'], executable: { path: ['/usr/**'] }, timeout: 2m }
`,
      'policy.yml',
    );
    expect(decide(policy, { argv: ['npm', 'publish'] }, NODE)).toMatchObject({ outcome: 'DENY', rule: 'no-npm' });
    expect(decide(policy, { argv: ['npm', 'test'] }, NODE)).toMatchObject({ outcome: 'ALLOW', rule: 'npm' });
    expect(decide(policy, { argv: ['npm', 'test'] }, { ...NODE, path: '/home/x/npm' })).toMatchObject({
      outcome: 'DENY',
      rule: 'default',
    });
    expect(decide(policy, { argv: ['npm', 'test'] }, undefined)).toMatchObject({ outcome: 'DENY', rule: 'default' });
    expect(decide(policy, { argv: ['npm', 'test'] }, NODE).terms.timeoutMs).toBe(120_000);
  });

  it('takes its terms from the rule that decided, not from one that only fits the name', () => {
    const policy = parsePolicy(
      `
version: 1
commands:
  - { id: a, argv: [tool], executable: { path: ['/opt/**'] }, timeout: 1h }
  - { id: b, argv: [tool], timeout: 1s, sensitive: true }
  - { id: c, argv: [other], executable: { path: ['/opt/**'] }, outcome: deny }
`,
      'policy.yml',
    );
    expect(decide(policy, { argv: ['tool'] }, NODE)).toMatchObject({
      rule: 'b',
      terms: { timeoutMs: 1000, keepBodies: false },
    });
    expect(decide(policy, { argv: ['other'] }, undefined)).toMatchObject({ outcome: 'DENY', rule: 'c' });
    expect(openingTerms(policy, { argv: ['tool'] }).bindingOrder).toContain('lease');
  });

  it('keeps no output of commands that a policy with a list does not list', () => {
    const policy = parsePolicy(
      'version: 1\ncommands:\n  - { id: a, argv: [a] }\n  - { id: b, argv: [b], sensitive: true }\n',
      'p.yml',
    );
    expect(decide(policy, { argv: ['a'] }, NODE).terms.keepBodies).toBe(true);
    expect(decide(policy, { argv: ['b'] }, NODE).terms.keepBodies).toBe(false);
    expect(decide(policy, { argv: ['c'] }, NODE).terms.keepBodies).toBe(false);
  });

  it('matches shell texts by their own patterns only', () => {
    const policy = parsePolicy(
      "version: 1\ndefault: deny\ncommands:\n  - { id: s, script: 'ls *| wc -l' }\n  - { id: any, argv: ['**'] }\n",
      'p.yml',
    );
    expect(decide(policy, { text: 'ls | wc -l\n' }, NODE).rule).toBe('s');
    expect(decide(policy, { text: 'rm -rf /' }, NODE).outcome).toBe('DENY');
  });

  it('names line and column of a fault', () => {
    const wrong = () => parsePolicy('version: 1\ncommands:\n  - id: a\n    argvv: [x]\n', 'policy.yml');
    expect(wrong).toThrowError(expect.objectContaining({ code: 'POLICY_INVALID', where: 'policy.yml:4:5' }));
  });

  it('refuses quantities that no timer or memory takes', () => {
    expect(parseDuration('10m')).toBe(600_000);
    expect(parseDuration('1.5h')).toBe(5_400_000);
    for (const text of ['0s', '-1s', '10', '99d', 'soon', '']) expect(parseDuration(text)).toBeUndefined();
    for (const text of ['output: { head: 900MiB }', 'timeout: 1000h', 'commands: [{ id: a, timeout: 0s }]'])
      expect(() => parsePolicy(`version: 1\n${text}\n`, 'p.yml')).toThrowError(
        expect.objectContaining({ code: 'POLICY_INVALID', where: expect.stringContaining('p.yml#/') }),
      );
  });
});

describe('environment', () => {
  it.each([
    ['PATH', 'standard'],
    ['LD_PRELOAD', 'loader-control'],
    ['NODE_OPTIONS', 'loader-control'],
    ['GITHUB_TOKEN', 'secret'],
    ['NPM_TOKEN', 'secret'],
    ['DB_PASSWORD', 'secret'],
    ['AWS_ACCESS_KEY_ID', 'secret'],
    ['SSH_AUTH_SOCK', 'standard'],
    ['PWD', 'standard'],
    ['GITHUB_SHA', 'ci'],
    ['INPUT_SIGNING-KEY', 'internal'],
    ['ACTIONS_RUNTIME_TOKEN', 'internal'],
    ['COMMAND_RECEIPTS_HOME', 'internal'],
    ['CACHE_KEY', 'config'],
    ['KEYBOARD', 'config'],
  ])('classes %s as %s', (name, expected) => {
    expect(classOf(name)).toBe(expected);
  });

  it('withholds what a plain step would not have had, and still knows its secrets', () => {
    const plan = planEnvironment(
      [
        ['PATH', '/bin'],
        ['ACTIONS_RUNTIME_TOKEN', 'runtime-token-value'],
        ['MY_TOKEN', 'my-token-value'],
      ],
      undefined,
    );
    expect(plan.passed.map(([name]) => name)).toEqual(['PATH', 'MY_TOKEN']);
    expect(plan.withheldNames).toEqual([{ name: 'ACTIONS_RUNTIME_TOKEN', class: 'internal' }]);
    expect(plan.secrets.map(({ name }) => name)).toEqual(['ACTIONS_RUNTIME_TOKEN', 'MY_TOKEN']);
  });

  it('passes only what an allowlist names', () => {
    const plan = planEnvironment(
      [
        ['PATH', '/bin'],
        ['GITHUB_SHA', 'x'],
        ['OTHER', 'y'],
      ],
      { allow: ['PATH', 'GITHUB_*'] },
    );
    expect(plan.passed.map(([name]) => name)).toEqual(['PATH', 'GITHUB_SHA']);
    expect(plan.allowlist).toEqual(['PATH', 'GITHUB_*']);
  });
});

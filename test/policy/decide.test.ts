import { describe, expect, it } from 'vitest';
import { classOf } from '../../src/policy/environment.ts';
import { builtInPolicy, decide, parseDuration, planEnvironment, termsFor } from '../../src/policy/index.ts';
import { parsePolicy } from '../../src/policy/parse.ts';

const NODE = { path: '/usr/bin/node', sha256: 'a'.repeat(64) };

describe('policy', () => {
  it('allows everything where there is none, and has a digest', () => {
    const policy = builtInPolicy();
    expect(decide(policy, { argv: ['anything'] }, undefined)).toEqual({ outcome: 'ALLOW', rule: 'default' });
    expect(policy.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(termsFor(policy, { argv: ['x'] })).toMatchObject({ keepBodies: true, timeoutMs: undefined });
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
    expect(decide(policy, { argv: ['npm', 'publish'] }, NODE)).toEqual({ outcome: 'DENY', rule: 'no-npm' });
    expect(decide(policy, { argv: ['npm', 'test'] }, NODE)).toEqual({ outcome: 'ALLOW', rule: 'npm' });
    expect(decide(policy, { argv: ['npm', 'test'] }, { ...NODE, path: '/home/x/npm' })).toEqual({
      outcome: 'DENY',
      rule: 'default',
    });
    expect(decide(policy, { argv: ['npm', 'test'] }, undefined)).toEqual({ outcome: 'DENY', rule: 'default' });
    expect(termsFor(policy, { argv: ['npm', 'test'] }).timeoutMs).toBe(120_000);
  });

  it('keeps no output of commands that a policy with a list does not list', () => {
    const policy = parsePolicy(
      'version: 1\ncommands:\n  - { id: a, argv: [a] }\n  - { id: b, argv: [b], sensitive: true }\n',
      'p.yml',
    );
    expect(termsFor(policy, { argv: ['a'] }).keepBodies).toBe(true);
    expect(termsFor(policy, { argv: ['b'] }).keepBodies).toBe(false);
    expect(termsFor(policy, { argv: ['c'] }).keepBodies).toBe(false);
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
    const policy = parsePolicy('version: 1\noutput: { head: 900MiB }\n', 'p.yml');
    expect(() => termsFor(policy, { argv: ['x'] })).toThrowError(expect.objectContaining({ code: 'POLICY_INVALID' }));
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

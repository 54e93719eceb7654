import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/redact/index.ts';
import { redactorWith } from './engine.ts';

const VALUE = '[REDACTED:assignment]';

describe('arguments', () => {
  it.each([
    [
      ['mysql', '--password', 'hunter22', 'db'],
      ['mysql', '--password', VALUE, 'db'],
    ],
    [
      ['x', '--token', 'X1'],
      ['x', '--token', VALUE],
    ],
    [
      ['x', '--token=X1'],
      ['x', `--token=${VALUE}`],
    ],
    [
      ['x', '--github-token', 'abc', '--api-key', 'def'],
      ['x', '--github-token', VALUE, '--api-key', VALUE],
    ],
    [
      ['x', '--password', '[REDACTED:assignment]'],
      ['x', '--password', VALUE],
    ],
    [
      ['curl', '-H', 'Authorization: Bearer abc123'],
      ['curl', '-H', 'Authorization: Bearer [REDACTED:authorization]'],
    ],
    [
      ['curl', '-u', 'user:pass', 'https://x.test'],
      ['curl', '-u', `user:${VALUE}`, 'https://x.test'],
    ],
    [
      ['docker', 'run', '-u', '1000:1000'],
      ['docker', 'run', '-u', '1000:1000'],
    ],
    [
      ['git', 'clone', 'https://u:p4ss@x.test/r'],
      ['git', 'clone', 'https://u:[REDACTED:url-password]@x.test/r'],
    ],
    [
      ['x', '--token', '-'],
      ['x', '--token', '-'],
    ],
    [
      ['x', '--no-password', '--verbose'],
      ['x', '--no-password', '--verbose'],
    ],
    [
      ['npm', 'test', '--', 'auth.spec.ts'],
      ['npm', 'test', '--', 'auth.spec.ts'],
    ],
    [
      ['x', '--tokenizer', 'bert-base'],
      ['x', '--tokenizer', 'bert-base'],
    ],
    [
      ['', ''],
      ['', ''],
    ],
  ])('%j', (args, expected) => {
    expect(createRedactor().argv(args)).toEqual(expected);
  });

  it('keep the rule id of a token that follows an option', () => {
    expect(createRedactor().argv(['x', '--token', `ghp_${'x'.repeat(36)}`])[2]).toBe('[REDACTED:github-token]');
  });

  it('with a literal inside', () => {
    expect(redactorWith('synthetic').argv(['echo', 'a synthetic b'])).toEqual(['echo', 'a [REDACTED:literal] b']);
  });

  it('redacted again come out the same', () => {
    const redactor = createRedactor();
    const once = redactor.argv(['x', '--password', 'hunter22', '-u', 'a:b', '--secret=x1y']);
    expect(redactor.argv(once)).toEqual(once);
  });
});

describe('a whole text', () => {
  it('has no open beginnings', () => {
    expect(redactorWith('synthetic').text('/usr/lib/sk-learning/synthet')).toBe('/usr/lib/sk-learning/synthet');
  });

  it.each(['', 'plain', '/home/runner/work/app', 'naïve — ✓', 'GITHUB_TOKEN'])('%j stays', (text) => {
    expect(createRedactor().text(text)).toBe(text);
  });
});

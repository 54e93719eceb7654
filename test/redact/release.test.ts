import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/redact/index.ts';
import { redactorWith } from './engine.ts';

function shownAtOnce(text: string): string {
  return Buffer.from(redactorWith('synthetic-value').stream().push(Buffer.from(text)).bytes).toString();
}

describe('ordinary output is shown at once', () => {
  it.each([
    'Password: ',
    'password for user: ',
    'Enter token: ',
    'Continue? [y/N] ',
    '\rDownloading 42% [====>    ] 3.1 MB/',
    '\u001b[32m✓\u001b[39m done\u001b[2m (3 ms)\u001b[22m',
    'a line\n',
    'export PASSWORD=',
    '{"password": "',
    'Listening on http://localhost:3000/',
    'Bearer ',
    '> ',
  ])('%j', (text) => {
    expect(shownAtOnce(text)).toBe(text);
  });
});

describe('only what may become a secret is held back', () => {
  it.each([
    ['x ghp_abc', 'x '],
    ['password=hun', 'password='],
    ['name gh', 'name '],
    ['value synthe', 'value '],
    ['-----BEGIN RSA', ''],
    ['ok [RED', 'ok '],
  ])('%j', (text, shown) => {
    expect(shownAtOnce(text)).toBe(shown);
  });

  it('and it comes out when it becomes none', () => {
    const stream = createRedactor().stream();
    const shown = ['x gh', 'ost, password=', '***', ' y.'].map((text) =>
      Buffer.from(stream.push(Buffer.from(text)).bytes).toString(),
    );
    expect(shown).toEqual(['x ', 'ghost, password=', '', '*** y.']);
  });
});

it('a chunk is never written to again', () => {
  const stream = createRedactor().stream();
  const source = Buffer.from('plain output\n');
  const { bytes } = stream.push(source);
  source.fill(0);
  stream.push(Buffer.alloc(100_000, 'y'));
  expect(Buffer.from(bytes).toString()).toBe('plain output\n');
});

it('an unterminated private key is named', () => {
  const stream = createRedactor().stream();
  stream.push(Buffer.from('-----BEGIN EC PRIVATE KEY-----\nMHc'));
  stream.end();
  expect(stream.totals().unterminated).toEqual(['private-key']);
});

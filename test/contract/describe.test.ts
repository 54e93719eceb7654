import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  asReceiptsError,
  describeExposure,
  isLabel,
  ReceiptsError,
  shellWords,
  visible,
} from '../../src/contract/index.ts';

describe('a vector for a shell', () => {
  it.each([
    ['plain-1.0', 'plain-1.0'],
    ['', "''"],
    ['a b', "'a b'"],
    ["it's", "'it'\\''s'"],
    ['$HOME', "'$HOME'"],
    ['größe', "'größe'"],
  ])('quotes %j as %s', (word, expected) => {
    expect(shellWords([word])).toBe(expected);
  });

  it('comes back as it was', () => {
    const word = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed());
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const text = execFileSync('sh', ['-c', `printf '%s\\0' ${shellWords(words)}`], { encoding: 'utf8' });
        expect(text).toBe(words.map((one) => `${one}\0`).join(''));
      }),
      { numRuns: 40 },
    );
  });

  it('shows the same whether it is made visible before or after', () => {
    expect(visible(shellWords(['\u001b[1m', 'x']))).toBe("'\\x1b[1m' x");
  });
});

test('what could hide or reorder text is spelled out', () => {
  expect(visible('a\u0000\n\t\u009b\u200b\u202e\u2028\ud800z')).toBe(
    'a\\x00\\n\\t\\x9b\\u{200b}\\u{202e}\\u{2028}\\u{d800}z',
  );
});

test.each([
  ['x', true],
  ['größe 2', true],
  ['', false],
  ['a\nb', false],
  ['\u007f', false],
  ['x'.repeat(256), true],
  ['ß'.repeat(129), false],
])('%j is a label: %s', (text, expected) => {
  expect(isLabel(text)).toBe(expected);
});

test('who can read a key', () => {
  expect(describeExposure({ dumpable: false, inspectorOpen: false })).toBeUndefined();
  expect(describeExposure({ dumpable: false, inspectorOpen: true })).toContain('inspector');
  expect(describeExposure({ dumpable: true, inspectorOpen: false, unprotectedReason: 'no prctl' })).toContain(
    'no prctl',
  );
});

test('what is thrown by others is a fault of ours, with its place', () => {
  const own = new ReceiptsError('USAGE', 'x');
  expect(asReceiptsError(own)).toBe(own);
  const other = new Error('broken');
  expect(asReceiptsError(other)).toMatchObject({ code: 'INTERNAL', message: other.stack, cause: other });
  expect(asReceiptsError('text')).toMatchObject({ code: 'INTERNAL', message: 'text' });
});

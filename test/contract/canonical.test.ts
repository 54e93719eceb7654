import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalBytes, canonicalText, parseCanonical, ReceiptsError } from '../../src/contract/index.ts';

const parse = (text: string) => parseCanonical(Buffer.from(text), 'here');
const codeOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error instanceof ReceiptsError ? `${error.code} ${error.where}` : error;
  }
};

describe('canonical JSON', () => {
  it('sorts members by UTF-16 code units (RFC 8785 §3.2.3)', () => {
    const value = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 };
    expect(Object.keys(parse(canonicalText(value)) as object)).toHaveLength(7);
    expect(canonicalText(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  });

  it.each([
    [1e21, '1e+21'],
    [1e-7, '1e-7'],
    [0.000001, '0.000001'],
    [9007199254740992, '9007199254740992'],
    [1 / 3, '0.3333333333333333'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
  ])('writes %d as ECMAScript does (RFC 8785 appendix B)', (value, text) => {
    expect(canonicalText(value)).toBe(text);
    expect(parse(text)).toBe(value);
  });

  it('reads back whatever it writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 6 }), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(parseCanonical(canonicalBytes(plain), '')).toEqual(plain);
      }),
    );
  });

  it('reads no other spelling of what it writes', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (value, position, change) => {
          const bytes = canonicalBytes(JSON.parse(JSON.stringify(value)));
          const altered = Buffer.from(bytes);
          const at = position % bytes.length;
          altered[at] = (bytes[at] ?? 0) ^ change;
          const text = codeOf(() => canonicalText(parseCanonical(altered, 'here')));
          expect(['MALFORMED here', altered.toString('utf8')]).toContain(text);
        },
      ),
    );
  });

  it.each([
    ['a duplicate member', '{"a":1,"a":1}'],
    ['members out of order', '{"b":1,"a":1}'],
    ['integer names in number order', '{"9":1,"10":1}'],
    ['white space', '{"a": 1}'],
    ['a trailing newline', '{}\n'],
    ['an escaped solidus', '"\\/"'],
    ['an upper-case escape', '"\\u001F"'],
    ['an escape that is not needed', '"\\u0041"'],
    ['a lone surrogate', '"\\ud800"'],
    ['a lone surrogate as a name', '{"\\udfff":1}'],
    ['minus zero', '-0'],
    ['an exponent that is not needed', '1e2'],
    ['a fraction that is not needed', '1.0'],
    ['more digits than a double has', '9007199254740993'],
    ['a number past all doubles', '1e400'],
    ['NaN', 'NaN'],
    ['nothing', ''],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
    ['a million levels', '['.repeat(1_000_000)],
  ])('refuses %s', (_name, text) => {
    expect(codeOf(() => parse(text))).toBe('MALFORMED here');
  });

  it.each([
    ['invalid UTF-8', [0x22, 0xff, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['an overlong form', [0x22, 0xc0, 0xaf, 0x22]],
    ['a byte-order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
  ])('refuses %s', (_name, bytes) => {
    expect(codeOf(() => parseCanonical(Buffer.from(bytes), 'here'))).toBe('MALFORMED here');
  });

  it.each([
    ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}`],
    ['brackets within a string', JSON.stringify('['.repeat(100))],
    ['an escaped backslash before letters that read like a surrogate', '"\\\\ud800"'],
    ['integer names in text order', '{"10":1,"9":1}'],
    ['a name that objects have', '{"__proto__":{"a":1},"constructor":1}'],
    ['astral characters', '"😀"'],
    ['control characters', '"\\u0000\\b\\t\\n\\u001f"'],
  ])('reads %s', (_name, text) => {
    expect(canonicalText(parse(text))).toBe(text);
  });

  it('writes nothing that JSON does not have', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', undefined])
      expect(() => canonicalText(value)).toThrow();
  });
});

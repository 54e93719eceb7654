import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, defaultRuleset } from '../../src/redact/index.ts';
import { LiteralForms } from '../../src/redact/literals.ts';
import { redactByteByByte, redactInPieces, redactorWith, redactWhole } from './engine.ts';

const VALUES = ['pa ss\'w"ord&<x>', 'line one\nline two', 'abababc', 'babab9', 'key123', '\u001b[31mred-secret'];
const redactor = redactorWith(...VALUES);
const forms = new LiteralForms(VALUES.map((value) => ({ name: 'x', value }))).forms().map((form) => Buffer.from(form));
const examples = defaultRuleset.rules.map((rule) => Buffer.from(rule.example.join('')));
const NOISE = (
  "ghp_ sk- eyJ AKIA password token _key = : \" ' ` \\ \\\" '\\'' \n \r\n [ [RED [REDACTED:literal] ] " +
  '-----BEGIN PRIVATE -----END KEY----- :// @ / Bearer Authorization: cookie: ; , & } x xxxxxxxx Ab1 hunter22 ${ *** ' +
  '\u00e9 \u001b[ \u001b[31m \u001b \u0000 %3D <password> AAAAAAAAAAAAAAAAAAAA deadbeefdeadbeefdeadbeefdeadbeef ab'
).split(' ');

const fragment = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NOISE, ' ').map((text) => Buffer.from(text)) },
  { weight: 2, arbitrary: fc.constantFrom(...examples) },
  { weight: 2, arbitrary: cutOf(fc.constantFrom(...examples, ...forms)) },
  { weight: 2, arbitrary: fc.constantFrom(...forms) },
  { weight: 1, arbitrary: fc.constantFrom(...examples).map((text) => Buffer.from(text.toString('latin1'), 'utf16le')) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)) },
);
const input = fc.array(fragment, { minLength: 1, maxLength: 12 }).map((parts) => Buffer.concat(parts));

function cutOf(whole: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  return fc
    .tuple(whole, fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([bytes, part]) => bytes.subarray(0, Math.floor(bytes.length * part)));
}

describe('for any stream', () => {
  it('the outcome does not depend on how it was pushed', () => {
    fc.assert(
      fc.property(input, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }), (bytes, sizes) => {
        const whole = redactWhole(redactor, bytes);
        let turn = 0;
        expect(redactInPieces(redactor, bytes, () => sizes[turn++ % sizes.length] ?? 1)).toEqual(whole);
        expect(redactByteByByte(redactor, bytes)).toEqual(whole);
      }),
      { numRuns: 1500 },
    );
  });

  it('no literal is left in any form', () => {
    fc.assert(
      fc.property(input, (bytes) => {
        const { output } = redactWhole(redactor, bytes);
        for (const form of forms) expect(output.includes(form)).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('every announced replacement is one', () => {
    fc.assert(
      fc.property(input, (bytes) => {
        const { replacements, totals } = redactByteByByte(redactor, bytes);
        for (const text of replacements) expect(text).toMatch(/^\[REDACTED:[a-z0-9-]+\]$/);
        const hits = totals.hits.reduce((sum, hit) => sum + hit.count, 0);
        expect(replacements.length).toBeGreaterThanOrEqual(hits);
      }),
      { numRuns: 300 },
    );
  });
});

describe('redacting again changes nothing', () => {
  it('for a secret of any rule in any surroundings', () => {
    const around = fc.constantFrom(
      '',
      ' ',
      '"',
      "'",
      '=',
      ': ',
      ',',
      '\n',
      'x',
      'token=',
      '"password": "',
      'Bearer ',
      '\u001b[1m',
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(around, fc.constantFrom(...examples), around), { minLength: 1, maxLength: 4 }),
        (parts) => {
          const bytes = Buffer.concat(
            parts.flatMap(([before, secret, after]) => [Buffer.from(before), secret, Buffer.from(`${after}\n`)]),
          );
          const once = redactWhole(redactor, bytes).output;
          expect(redactWhole(redactor, once).output.toString('latin1')).toBe(once.toString('latin1'));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('even if a literal is part of a replacement text', () => {
    const odd = redactorWith('REDACTED', 'github-token', ']: [abc');
    const text = 'token=[REDACTED:github-token] [REDACTED:literal][REDACTED:assignment]';
    expect(odd.text(text)).toBe(text);
    expect(odd.text('github-token')).toBe('[REDACTED:literal]');
  });

  it('and what merely looks like a replacement text protects nothing', () => {
    expect(redactorWith('my-secret').text('[REDACTED:my-secret]')).toBe('[REDACTED:[REDACTED:literal]]');
    expect(createRedactor().text('[REDACTED:unknown]')).toBe('[REDACTED:unknown]');
  });
});

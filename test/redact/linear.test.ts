import { describe, expect, it } from 'vitest';
import { compileRuleset } from '../../src/redact/compile.ts';
import { createRedactor, defaultRuleset } from '../../src/redact/index.ts';
import { LiteralForms } from '../../src/redact/literals.ts';
import { withLiterals } from '../../src/redact/patterns.ts';
import { RedactingStream } from '../../src/redact/stream.ts';

/** Bytes the engine may look at per byte pushed, on any input. */
const STEPS_PER_BYTE = 64;

const values = Array.from({ length: 50 }, (_, i) => ({
  name: `S${i}`,
  value: `${'a'.repeat(i)}synthetic-${i}-${'a'.repeat(200)}`,
}));
const patterns = withLiterals(compileRuleset(defaultRuleset).patterns, new LiteralForms(values).forms());

function stepsPerByte(unit: string, length: number): number {
  const input = Buffer.alloc(length, unit);
  const stream = new RedactingStream({ current: patterns });
  for (let at = 0; at < length; at += 65536) stream.push(input.subarray(at, at + 65536));
  stream.end();
  return stream.steps / length;
}

describe('work is linear in the input', () => {
  it.each([
    ['x'],
    ['a'],
    ['sk-'],
    ['sk-aaaaaaaaaaaa-'],
    ['password='],
    ['password=$'],
    ['token: '],
    ['password="'],
    ['"'],
    ["'\\''"],
    ['\\'],
    ['password="\\\\'],
    ['eyJ'],
    ['eyJ '],
    [`${'eyJxx-'.repeat(80)} `],
    ['-----BEGIN '],
    ['-----BEGIN PRIVATE KEY-----'],
    ['-----END '],
    ['://'],
    ['://a:'],
    [`a://${'b'.repeat(60)}:`],
    ['[REDACTED:'],
    ['[REDACTED:literal]'],
    ['\u0000'],
    ['\u001b[31m'],
    ['g\u0000h\u0000p\u0000_\u0000'],
    ['synthetic-'],
    ['ghp_'],
    ['aaaaaaaaaaaaaaaaaaaaaab'],
    ['authorization: bearer '],
    ['cookie: a'],
  ])('for %j repeated', (unit) => {
    const short = stepsPerByte(unit, 1 << 18);
    const long = stepsPerByte(unit, 1 << 20);
    expect(long).toBeLessThan(STEPS_PER_BYTE);
    expect(long).toBeLessThan(short * 1.1 + 0.5);
  });
});

describe('memory is constant', () => {
  it('for a token of 5 MB', () => {
    const stream = createRedactor().stream();
    let emitted = stream.push(Buffer.from('before ghp_')).bytes.length;
    const piece = Buffer.alloc(64 * 1024, 'x');
    const held: number[] = [];
    for (let i = 0; i < 80; i++) {
      emitted += stream.push(piece).bytes.length;
      const { observedBytes, removedBytes } = stream.totals();
      held.push(observedBytes - removedBytes - emitted);
    }
    expect(Math.max(...held)).toBeLessThanOrEqual(64);
    expect(Buffer.from(stream.push(Buffer.from(' after.')).bytes).toString()).toBe('[REDACTED:github-token] after.');
  });

  it.each([
    ['a private key', '-----BEGIN PRIVATE KEY-----', 'x'],
    ['a quoted password', 'password="ab1', 'xxxxxx\\\\'],
    ['NULs after an anchor', 'ghp_', '\u0000'],
    ['a sequence that never ends', 'ghp_\u001b[', '1'],
    ['spaces after a keyword', 'password:', ' '],
    ['a long user name', 'https://', 'user'],
    ['a long password', 'https://user:', 'word'],
  ])('for %s without end', (_name, beginning, unit) => {
    const stream = createRedactor().stream();
    let emitted = stream.push(Buffer.from(beginning)).bytes.length;
    const piece = Buffer.alloc(16 * 1024, unit);
    for (let i = 0; i < 40; i++) emitted += stream.push(piece).bytes.length;
    const { observedBytes, removedBytes, insertedBytes } = stream.totals();
    expect(observedBytes - removedBytes + insertedBytes - emitted).toBeLessThan(32 * 1024);
  });
});

import { describe, expect, it } from 'vitest';
import { createRedactor, type StreamRedactor } from '../../src/redact/index.ts';
import { LiteralForms } from '../../src/redact/literals.ts';
import { redactorWith } from './engine.ts';

function pushText(stream: StreamRedactor, text: string): string {
  return Buffer.from(stream.push(Buffer.from(text)).bytes).toString();
}

describe('literals that are not masked are named', () => {
  it.each([
    ['an empty one', ''],
    ['a short one', 'abc12'],
    ['space', ' \n '],
    ['brackets', '{ [ ( ) ] }'],
    ['one repeated character', '********'],
    ['a short line of a longer one', 'long-enough\nab\n'],
    ['a brace on its own line', '{\n"long": "enough"\n}'],
  ])('%s', (_name, value) => {
    expect(createRedactor({ literals: [{ name: 'NAMED', value }] }).skippedLiterals).toEqual(['NAMED']);
  });

  it('and only those', () => {
    const redactor = createRedactor({
      literals: [
        { name: 'B', value: 'x' },
        { name: 'A', value: '' },
        { name: 'C', value: 'synthetic' },
      ],
    });
    expect(redactor.skippedLiterals).toEqual(['A', 'B']);
  });
});

describe('a literal added while a stream runs', () => {
  it('is masked from the next pushed byte on, in existing and future streams', () => {
    const redactor = createRedactor();
    const stream = redactor.stream();
    expect(pushText(stream, 'late-secret ')).toBe('late-secret ');
    redactor.addLiterals([{ name: 'LATE', value: 'late-secret' }]);
    expect(pushText(stream, 'late-secret ')).toBe('[REDACTED:literal] ');
    expect(redactor.text('late-secret')).toBe('[REDACTED:literal]');
    stream.end();
    expect(stream.totals().hits).toEqual([{ type: 'literal', count: 1 }]);
  });

  it('leaves those known before in force, also one that is half printed', () => {
    const redactor = redactorWith('first-secret');
    const stream = redactor.stream();
    expect(pushText(stream, 'x first-')).toBe('x ');
    redactor.addLiterals([{ name: 'LATE', value: 'late-secret' }]);
    expect(pushText(stream, 'secret late-secret!\n')).toBe('[REDACTED:literal] [REDACTED:literal]!\n');
  });

  it('works beside colours', () => {
    const redactor = createRedactor();
    const stream = redactor.stream();
    pushText(stream, '\u001b[1m, ');
    redactor.addLiterals([{ name: 'LATE', value: 'late-secret' }]);
    expect(pushText(stream, 'late\u001b[1m-secret!\n')).toBe('[REDACTED:literal]!\n');
  });

  it('adds to the skipped names', () => {
    const redactor = redactorWith('first-secret');
    redactor.addLiterals([{ name: 'SHORT', value: 'x' }]);
    expect(redactor.skippedLiterals).toEqual(['SHORT']);
  });
});

it('forms are few for a plain value', () => {
  expect(new LiteralForms([{ name: 'PLAIN', value: 'plainvalue' }]).forms().length).toBeLessThan(14);
});

it('no form is there twice, and a path with .. is not shortened into a word of its own', () => {
  const forms = new LiteralForms([{ name: 'A', value: '../up/ordinary-word' }]).forms().map(String);
  expect(new Set(forms).size).toBe(forms.length);
  expect(forms).not.toContain('ordinary-word');
  expect(forms).not.toContain('up/ordinary-word');
});

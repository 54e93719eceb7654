import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createRedactor, type Literal } from '../../src/redact/index.ts';
import { type Outcome, redactByteByByte, redactSplitAt, redactWhole } from './engine.ts';

/** Plain JSON, so that an engine in another language can run the same cases. */
interface Vector {
  readonly name: string;
  readonly literals: readonly Literal[];
  /** The pieces of the stream in order; `hex` for bytes that are no UTF-8. */
  readonly inputs: ReadonlyArray<{ readonly utf8?: string; readonly hex?: string }>;
  readonly expected: { readonly utf8?: string; readonly hex?: string };
  readonly hits: Readonly<Record<string, number>>;
  readonly skipped?: readonly string[];
}

const DIRECTORY = new URL('../vectors/redact/', import.meta.url);
/** Longer inputs are split at this many positions, evenly spread. */
const SPLITS = 400;

function bytesOf(text: { readonly utf8?: string; readonly hex?: string }): Buffer {
  return text.hex === undefined ? Buffer.from(text.utf8 ?? '') : Buffer.from(text.hex, 'hex');
}

function summary({ output, totals }: Outcome): unknown {
  return {
    output: output.toString('latin1'),
    hits: Object.fromEntries(totals.hits.map((hit) => [hit.type, hit.count])),
  };
}

for (const file of readdirSync(DIRECTORY).sort()) {
  const vectors = JSON.parse(readFileSync(new URL(file, DIRECTORY), 'utf8')) as Vector[];
  describe(file, () => {
    it.each(vectors.map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
      const redactor = createRedactor({ literals: vector.literals });
      const input = Buffer.concat(vector.inputs.map(bytesOf));
      const expected = { output: bytesOf(vector.expected).toString('latin1'), hits: vector.hits };
      expect(summary(redactWhole(redactor, input))).toEqual(expected);
      expect(summary(redactByteByByte(redactor, input))).toEqual(expected);
      const step = Math.max(1, Math.floor(input.length / SPLITS));
      for (let position = 1; position < input.length; position += step) {
        expect(summary(redactSplitAt(redactor, input, position))).toEqual(expected);
      }
      if (vector.skipped !== undefined) expect(redactor.skippedLiterals).toEqual(vector.skipped);
    });
  });
}

import {
  createRedactor,
  type Literal,
  type RedactedChunk,
  type RedactionTotals,
  type Redactor,
} from '../../src/redact/index.ts';

export interface Outcome {
  readonly output: Buffer;
  readonly totals: RedactionTotals;
  readonly replacements: readonly string[];
}

/** Pushes `input` in pieces of the sizes that `next` gives, and checks what must hold for every stream. */
export function redactInPieces(redactor: Redactor, input: Uint8Array, next: () => number): Outcome {
  const stream = redactor.stream();
  const chunks: RedactedChunk[] = [];
  for (let at = 0; at < input.length; ) {
    const size = Math.max(1, next());
    chunks.push(stream.push(input.subarray(at, at + size)));
    at += size;
  }
  chunks.push(stream.end());
  const output = Buffer.concat(chunks.map((chunk) => chunk.bytes));
  const replacements = chunks.flatMap(({ bytes, replacements: ranges }) =>
    ranges.map(([start, end]) => Buffer.from(bytes.subarray(start, end)).toString()),
  );
  const totals = stream.totals();
  if (totals.observedBytes !== input.length || totals.redactedBytes !== output.length) throw new Error('bytes lost');
  if (totals.observedBytes - totals.removedBytes + totals.insertedBytes !== totals.redactedBytes) {
    throw new Error('the equation does not hold');
  }
  return { output, totals, replacements };
}

export function redactWhole(redactor: Redactor, input: Uint8Array): Outcome {
  return redactInPieces(redactor, input, () => input.length);
}

export function redactByteByByte(redactor: Redactor, input: Uint8Array): Outcome {
  return redactInPieces(redactor, input, () => 1);
}

export function redactSplitAt(redactor: Redactor, input: Uint8Array, position: number): Outcome {
  let first = true;
  return redactInPieces(redactor, input, () => {
    const size = first ? position : input.length - position;
    first = false;
    return size;
  });
}

export function redactorWith(...values: readonly string[]): Redactor {
  const literals: Literal[] = values.map((value, index) => ({ name: `SECRET_${index}`, value }));
  return createRedactor({ literals });
}

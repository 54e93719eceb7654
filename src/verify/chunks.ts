import {
  type ChunkHeader,
  chunkGenesis,
  parseCanonical,
  ReceiptsError,
  type StreamEvidence,
  sha256,
  type VerdictCode,
} from '../contract/index.ts';
import { ChunkHeader as ChunkHeaderSchema } from '../contract/schema/outcome.ts';
import { fieldErrors } from '../contract/validate.ts';
import type { RetainedBody } from './body.ts';
import { readLines } from './evidence-file.ts';
import { type CommandFacts, STREAM_NAMES, type StreamName } from './facts.ts';
import type { Findings } from './findings.ts';

const LONGEST_LINE = 4096;
/** Of no bytes, in hex. */
export const EMPTY_DIGEST = sha256('').toString('hex');

/** A line in the one form that canonical JSON gives a chunk: matching is parsing and checking at once. */
const COUNT = '(0|[1-9][0-9]{0,15})';
const LINE = new RegExp(
  `^\\{"index":${COUNT},"observed":${COUNT},"redacted":${COUNT},"redactedDigest":"sha256:([0-9a-f]{64})","sequence":${COUNT},"stream":"(stdout|stderr)"\\}$`,
);

/** The redacted bytes of one stream as far as they are retained from its beginning. */
export interface Prefix {
  readonly body: RetainedBody;
  readonly length: number;
}

interface Fault {
  readonly code: VerdictCode;
  readonly message: string;
}

/** docs/format.md §7: `chunks.jsonl`, line by line in bounded memory, against the receipt and the retained bytes. */
export function verifyChunks(
  path: string,
  facts: CommandFacts,
  prefixes: ReadonlyMap<StreamName, Prefix>,
  findings: Findings,
): void {
  const tallies = new Map<string, Tally>();
  for (const name of STREAM_NAMES) {
    const stream = facts.streams?.[name];
    if (stream) tallies.set(name, new Tally(name, stream, chunkGenesis(facts.receiptId, name), prefixes.get(name)));
  }
  let fault: Fault | undefined;
  const { lines, end } = readLines(path, LONGEST_LINE, (line, number) => {
    fault = takeLine(line, number - 1, tallies);
    return fault === undefined;
  });
  if (fault) findings.add(fault.code, `${path}:${lines}`, fault.message);
  else if (end === 'torn') findings.add('MALFORMED', `${path}:${lines + 1}`, 'the last line has no newline');
  else if (end === 'too-long') findings.add('MALFORMED', `${path}:${lines + 1}`, `longer than ${LONGEST_LINE} bytes`);
  if (end !== 'whole') return;
  for (const tally of tallies.values()) tally.finish((code, message) => findings.add(code, path, message));
}

function takeLine(line: Buffer, index: number, tallies: ReadonlyMap<string, Tally>): Fault | undefined {
  const match = LINE.exec(line.toString('latin1'));
  const [, stated, observed, redacted, digest = '', sequence, stream = ''] = match ?? [];
  if (match === null || ![stated, observed, redacted, sequence].every((count) => Number.isSafeInteger(Number(count))))
    return { code: 'MALFORMED', message: explain(line) };
  // §7.2: `index` counts the lines of both streams.
  if (Number(stated) !== index) return { code: 'BYTE_ACCOUNTING', message: `index ${stated} where ${index} is due` };
  const tally = tallies.get(stream);
  if (tally === undefined)
    return { code: 'BYTE_ACCOUNTING', message: `a chunk of ${stream}, which the receipt does not have` };
  return tally.take(line, {
    observed: Number(observed),
    redacted: Number(redacted),
    sequence: Number(sequence),
    digest,
  });
}

/** Why a line is no chunk header. */
function explain(line: Buffer): string {
  try {
    const [first] = fieldErrors(ChunkHeaderSchema, parseCanonical(line, ''));
    return first ? `${first.pointer} ${first.message}` : 'not a chunk header';
  } catch (error) {
    return error instanceof ReceiptsError ? error.message : 'not a chunk header';
  }
}

type Chunk = Pick<ChunkHeader, 'observed' | 'redacted' | 'sequence'> & { readonly digest: string };

/** What the lines of one stream add up to. */
class Tally {
  readonly #name: StreamName;
  readonly #stream: StreamEvidence;
  readonly #prefix: Prefix | undefined;
  /** c of the lines so far, with room for the next line behind it. */
  readonly #link = Buffer.allocUnsafe(32 + LONGEST_LINE);
  #count = 0;
  #observed = 0;
  #redacted = 0;
  #digest = EMPTY_DIGEST;

  constructor(name: StreamName, stream: StreamEvidence, genesis: Buffer, prefix: Prefix | undefined) {
    this.#name = name;
    this.#stream = stream;
    this.#prefix = prefix;
    genesis.copy(this.#link);
  }

  take(line: Buffer, chunk: Chunk): Fault | undefined {
    if (chunk.sequence !== this.#count)
      return {
        code: 'BYTE_ACCOUNTING',
        message: `sequence ${chunk.sequence} of ${this.#name} where ${this.#count} is due`,
      };
    this.#count++;
    this.#observed += chunk.observed;
    this.#redacted += chunk.redacted;
    // §7.2: cᵢ = SHA-256(cᵢ₋₁ ‖ line).
    line.copy(this.#link, 32);
    sha256(this.#link.subarray(0, 32 + line.length)).copy(this.#link);
    if (chunk.redacted === 0 && chunk.digest !== this.#digest)
      return {
        code: 'OUTPUT_DIGEST',
        message: `redactedDigest of ${this.#name} changes over a chunk without redacted bytes`,
      };
    this.#digest = chunk.digest;
    return chunk.redacted === 0 ? undefined : this.#compareWithBody(chunk.digest);
  }

  /** §7.2: the digest is that of the redacted stream up to here, recomputed as far as its beginning is retained. */
  #compareWithBody(digest: string): Fault | undefined {
    if (this.#prefix === undefined || this.#redacted > this.#prefix.length) return undefined;
    const { body } = this.#prefix;
    body.hashTo(this.#redacted);
    if (body.position === this.#redacted && body.digest() === digest) return undefined;
    return {
      code: 'OUTPUT_DIGEST',
      message: `redactedDigest of ${this.#name} is not that of the retained bytes up to ${this.#redacted}`,
    };
  }

  /** §7.1, §7.2, §7.3: sums, count, chain and last digest are the receipt's. */
  finish(report: (code: VerdictCode, message: string) => void): void {
    const { chunks, observedBytes, blockedAt, redactedBytes, redactedDigest } = this.#stream;
    const accounted = blockedAt ?? observedBytes;
    const name = this.#name;
    if (this.#count !== chunks.count)
      report('BYTE_ACCOUNTING', `${this.#count} chunks of ${name}, the receipt counts ${chunks.count}`);
    else if (this.#observed !== accounted)
      report('BYTE_ACCOUNTING', `chunks of ${name} observed ${this.#observed} bytes, the receipt ${accounted}`);
    else if (this.#redacted !== redactedBytes)
      report(
        'BYTE_ACCOUNTING',
        `chunks of ${name} hold ${this.#redacted} redacted bytes, the receipt ${redactedBytes}`,
      );
    else if (this.#link.toString('hex', 0, 32) !== chunks.chain)
      report('OUTPUT_DIGEST', `the chunk chain of ${name} does not end as the receipt says`);
    else if (`sha256:${this.#digest}` !== redactedDigest)
      report('OUTPUT_DIGEST', `the last chunk of ${name} and the receipt disagree on redactedDigest`);
  }
}

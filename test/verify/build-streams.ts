import { canonicalText, chunkGenesis, digestOf, type StreamEvidence, sha256 } from '../../src/contract/index.ts';

/** Output of a command as the store will hold it. */
export interface StreamSpec {
  readonly redacted?: Buffer;
  /** Raw bytes; as many as redacted ones without it. */
  readonly observed?: number;
  readonly inserted?: number;
  /** Bytes kept at both ends; everything without it. */
  readonly keep?: { readonly head: number; readonly tail: number };
  readonly chunkSize?: number;
}

export interface BuiltStreams {
  readonly evidence: { readonly stdout: StreamEvidence; readonly stderr: StreamEvidence };
  /** Of `chunks.jsonl`, without newlines. */
  readonly chunkLines: readonly string[];
  /** Names and bytes of the bodies, also of the empty ones that are not stored. */
  readonly files: ReadonlyArray<readonly [name: string, bytes: Buffer]>;
}

type Name = 'stdout' | 'stderr';
interface Piece {
  readonly name: Name;
  readonly sequence: number;
  readonly observed: number;
  readonly redacted: Buffer;
  readonly end: number;
}

/** docs/format.md §7 for both streams; their chunks are read in turns. */
export function buildStreams(receiptId: string, specs: Partial<Record<Name, StreamSpec>>): BuiltStreams {
  const pieces = [...cut('stdout', specs.stdout ?? {}), ...cut('stderr', specs.stderr ?? {})].sort(
    (left, right) => left.sequence - right.sequence,
  );
  const links = { stdout: chunkGenesis(receiptId, 'stdout'), stderr: chunkGenesis(receiptId, 'stderr') };
  const chunkLines = pieces.map(({ name, sequence, observed, redacted, end }, index) => {
    const redactedDigest = digestOf((specs[name]?.redacted ?? Buffer.alloc(0)).subarray(0, end));
    const line = canonicalText({ index, observed, redacted: redacted.length, redactedDigest, sequence, stream: name });
    links[name] = sha256(Buffer.concat([links[name], Buffer.from(line)]));
    return line;
  });
  const evidenceOf = (name: Name) =>
    evidence(specs[name] ?? {}, pieces.filter((piece) => piece.name === name).length, links[name]);
  return {
    evidence: { stdout: evidenceOf('stdout'), stderr: evidenceOf('stderr') },
    chunkLines,
    files: [...bodies('stdout', specs.stdout ?? {}), ...bodies('stderr', specs.stderr ?? {})],
  };
}

function cut(
  name: Name,
  { redacted = Buffer.alloc(0), observed = redacted.length, chunkSize = 1 << 16 }: StreamSpec,
): Piece[] {
  const count = Math.ceil(Math.max(redacted.length, observed > 0 ? 1 : 0) / chunkSize);
  return Array.from({ length: count }, (_, sequence) => {
    const start = sequence * chunkSize;
    const end = Math.min(start + chunkSize, redacted.length);
    const last = sequence === count - 1;
    return {
      name,
      sequence,
      observed: last ? observed - start : chunkSize,
      redacted: redacted.subarray(start, end),
      end,
    };
  });
}

function evidence(spec: StreamSpec, count: number, link: Buffer): StreamEvidence {
  const { redacted = Buffer.alloc(0), inserted = 0 } = spec;
  const { observed = redacted.length, keep = { head: redacted.length, tail: 0 } } = spec;
  const dropped = redacted.length - keep.head - keep.tail;
  return {
    observedBytes: observed,
    redactedBytes: redacted.length,
    retainedBytes: keep.head + keep.tail,
    droppedBytes: dropped,
    redaction: { removedBytes: observed + inserted - redacted.length, insertedBytes: inserted, hits: [] },
    retained: {
      head: { offset: 0, length: keep.head },
      tail: { offset: redacted.length - keep.tail, length: keep.tail },
      sha256: sha256(Buffer.concat(ends(spec))).toString('hex'),
    },
    truncation: { reason: dropped === 0 ? 'none' : 'quota' },
    chunks: { count, chain: link.toString('hex') },
    rawHmac: { keyId: 'AAAAAAAAAAAAAAAAAAAAAA', algorithm: 'hmac-sha256', value: 'ab'.repeat(32) },
    redactedDigest: digestOf(redacted),
    closed: 'eof',
  };
}

function ends({
  redacted = Buffer.alloc(0),
  keep = { head: redacted.length, tail: 0 },
}: StreamSpec): [head: Buffer, tail: Buffer] {
  return [redacted.subarray(0, keep.head), redacted.subarray(redacted.length - keep.tail)];
}

function bodies(name: Name, spec: StreamSpec): Array<readonly [string, Buffer]> {
  const [head, tail] = ends(spec);
  if (spec.keep === undefined) return [[`${name}.txt`, head]];
  return [
    [`${name}.head.txt`, head],
    [`${name}.tail.txt`, tail],
  ];
}

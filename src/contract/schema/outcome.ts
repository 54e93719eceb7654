import { type Static, Type } from 'typebox';
import { STREAM_CLOSINGS, TRUNCATION_REASONS } from '../codes.ts';
import { Closed, Count, Decimal, KeyedDigest, Nullable, OneOf, Sha256Hex, Text } from './primitives.ts';

const SignalName = Type.String({ pattern: '^SIG[A-Z0-9+-]{1,12}$' });

export const Exited = Closed({
  kind: Type.Literal('exited'),
  exitCode: Type.Integer({ minimum: 0, maximum: 4294967295 }),
  signal: Type.Null(),
});
export const Signaled = Closed({
  kind: Type.Literal('signaled'),
  exitCode: Type.Null(),
  signal: SignalName,
  coreDumped: Nullable(Type.Boolean()),
});
export const TimedOut = Closed({
  kind: Type.Literal('timed-out'),
  exitCode: Nullable(Type.Integer({ minimum: 0, maximum: 4294967295 })),
  signal: Nullable(SignalName),
  coreDumped: Nullable(Type.Boolean()),
  timeout: Closed({
    limitNs: Decimal,
    /** CLOCK_MONOTONIC. */
    termSentNs: Decimal,
    killSentNs: Type.Optional(Decimal),
  }),
});
export const StartFailed = Closed({
  kind: Type.Literal('start-failed'),
  exitCode: Type.Null(),
  signal: Type.Null(),
  code: Text,
  errno: Type.Optional(Text),
  message: Text,
});
export const Refused = Closed({
  kind: Type.Literal('refused'),
  exitCode: Type.Null(),
  signal: Type.Null(),
  code: Text,
  message: Text,
});
export const UnknownTermination = Closed({
  kind: Type.Literal('unknown'),
  exitCode: Type.Null(),
  signal: Type.Null(),
  /** The first stage that the journal lacks. */
  missingStage: OneOf(['BOUND', 'STARTED', 'TERMINATED', 'SEALED'] as const),
});

export const EndedTermination = Type.Union([Exited, Signaled, TimedOut, UnknownTermination]);
export const UnstartedTermination = Type.Union([Refused, StartFailed]);
export type EndedTermination = Static<typeof EndedTermination>;
export type UnstartedTermination = Static<typeof UnstartedTermination>;
export type UnknownTermination = Static<typeof UnknownTermination>;
export type Termination = EndedTermination | UnstartedTermination;

/** A range of the redacted stream: byte offset and length. */
const Range = Closed({ offset: Count, length: Count });

export const StreamEvidence = Closed({
  observedBytes: Count,
  redactedBytes: Count,
  retainedBytes: Count,
  droppedBytes: Count,
  redaction: Closed({
    removedBytes: Count,
    insertedBytes: Count,
    hits: Type.Array(Closed({ type: Text, count: Count })),
  }),
  retained: Closed({
    head: Range,
    tail: Range,
    /** Of the head's bytes followed by the tail's. */
    sha256: Sha256Hex,
  }),
  truncation: Closed({ reason: OneOf(TRUNCATION_REASONS) }),
  chunks: Closed({ count: Count, chain: Sha256Hex }),
  rawHmac: KeyedDigest,
  /** SHA-256 of the whole redacted stream, the dropped part included. */
  redactedDigest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  closed: OneOf(STREAM_CLOSINGS),
  /** Processes that still held the pipe when the grace period ended. */
  holders: Type.Optional(Type.Array(Closed({ pid: Count, comm: Text }))),
  /** Observed bytes up to which the other counts hold; only with EVIDENCE_BLOCKED. */
  blockedAt: Type.Optional(Count),
  /** Observed bytes already passed when a mask was added while the stream ran. */
  masksAddedAt: Type.Optional(Type.Array(Count)),
});
export type StreamEvidence = Static<typeof StreamEvidence>;

/** One line of `chunks.jsonl`. */
export const ChunkHeader = Closed({
  stream: OneOf(['stdout', 'stderr'] as const),
  /** Line number in the file, from 0, over both streams: the order in which the chunks were read. */
  index: Count,
  /** From 0 within the stream. */
  sequence: Count,
  observed: Count,
  redacted: Count,
  /** SHA-256 of the redacted stream from its start to the end of this chunk. */
  redactedDigest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
});
export type ChunkHeader = Static<typeof ChunkHeader>;

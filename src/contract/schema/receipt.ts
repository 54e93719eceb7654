import { type Static, Type } from 'typebox';
import { CUSTODIES, FLAGS, GAP_CODES } from '../codes.ts';
import { Command, Cwd, Environment, Process, ProgramFile, RequestedOnly, Sandbox, Script } from './launch.ts';
import { EndedTermination, StreamEvidence, UnknownTermination, UnstartedTermination } from './outcome.ts';
import { Closed, Count, Decimal, Digest, KeyId, Nullable, OneOf, ReceiptId, Text, Timestamp } from './primitives.ts';

export const Task = Closed({
  id: Text,
  step: Type.Optional(Text),
  /** Counted from 1 within the task, per step. */
  attempt: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});

export const ChainPosition = Closed({
  id: ReceiptId,
  /** Counted from 1. */
  sequence: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  /** The first of a chain links to the digest of the chain's id. */
  previousReceiptDigest: Digest,
});

export type ChainPosition = Static<typeof ChainPosition>;

export const Context = Type.Union([
  Closed({ kind: Type.Literal('local') }),
  Closed({
    kind: Type.Literal('github-actions'),
    repository: Nullable(Text),
    repositoryId: Nullable(Text),
    headSha: Nullable(Text),
    sha: Nullable(Text),
    ref: Nullable(Text),
    event: Nullable(Text),
    runId: Nullable(Text),
    runAttempt: Nullable(Text),
    job: Nullable(Text),
    /** Absent for a job without a matrix. */
    matrixKey: Type.Optional(Text),
    workflowRef: Nullable(Text),
    workflowSha: Nullable(Text),
    runnerEnvironment: Nullable(Text),
  }),
]);
export type Context = Static<typeof Context>;

export const PolicyDecision = Closed({
  decisionId: ReceiptId,
  digest: Digest,
  outcome: OneOf(['ALLOW', 'DENY'] as const),
  /** The rule that decided, by its id; `default` where none matched. */
  rule: Text,
  source: OneOf(['file', 'built-in'] as const),
});
export type PolicyDecision = Static<typeof PolicyDecision>;

export const Time = Closed({
  /** CLOCK_MONOTONIC, nanoseconds. */
  monotonicStartNs: Decimal,
  /** Unknown after a recovery, like `endedAt`. */
  monotonicEndNs: Nullable(Decimal),
  bootId: Nullable(Text),
  startedAt: Timestamp,
  endedAt: Nullable(Timestamp),
});

export const RedactionStatus = Closed({
  ruleset: Closed({ id: Text, version: Text, digest: Digest }),
  status: OneOf(['applied', 'blocked'] as const),
  /** Names of registered secrets that are too short or structural to be masked. */
  skippedLiterals: Type.Array(Text),
});

export const Evidence = Closed({
  flags: Type.Array(OneOf(FLAGS)),
  gaps: Type.Array(Closed({ field: Text, reason: OneOf(GAP_CODES), detail: Type.Optional(Text) })),
  recoveredBy: Type.Optional(
    Closed({ keyId: KeyId, recoveredAt: Timestamp, journal: OneOf(['authenticated', 'unauthenticated'] as const) }),
  ),
});
export type Evidence = Static<typeof Evidence>;

export const Executor = Closed({
  name: Type.Literal('command-receipts'),
  version: Text,
  /** Of the running bundle. */
  distDigest: Nullable(Digest),
  runtime: Text,
  platform: Text,
  launcher: OneOf(['linux', 'portable'] as const),
  isolation: OneOf(['same-user', 'privileged'] as const),
  keyId: KeyId,
  custody: OneOf(CUSTODIES),
});
export type Executor = Static<typeof Executor>;

const Rollout = Closed({
  stage: OneOf(['off', 'shadow-5', 'shadow-50', 'enforced', 'rolled-back'] as const),
  bucket: Type.Optional(Count),
  writers: Type.Array(Text, { minItems: 1 }),
});

const common = {
  schema: Type.Literal('command-receipt.v1'),
  receiptId: ReceiptId,
  task: Task,
  chain: ChainPosition,
  context: Context,
  command: Command,
  /** The vector given to exec, redacted; of a command that never got so far, the one asked for. */
  argv: Type.Array(Text, { minItems: 1 }),
  environment: Environment,
  time: Time,
  redaction: RedactionStatus,
  evidence: Evidence,
  executor: Executor,
  rollout: Rollout,
};

const boundParts = {
  cwd: Cwd,
  executable: ProgramFile,
  /** Outermost first; exec started the last. Empty for a program that is no script. */
  interpreters: Type.Array(ProgramFile),
  script: Type.Optional(Script),
};

const unboundParts = {
  cwd: Type.Union([Cwd, RequestedOnly]),
  executable: Type.Union([ProgramFile, RequestedOnly]),
  interpreters: Type.Array(ProgramFile),
  script: Type.Optional(Script),
};

/** A process existed. */
export const StartedReceipt = Closed({
  ...common,
  ...boundParts,
  policy: PolicyDecision,
  started: Type.Literal('yes'),
  sandbox: Sandbox,
  process: Process,
  termination: EndedTermination,
  streams: Closed({ stdout: Nullable(StreamEvidence), stderr: Nullable(StreamEvidence) }),
});

/** No process existed, and that is known. */
export const UnstartedReceipt = Closed({
  ...common,
  ...unboundParts,
  policy: PolicyDecision,
  started: Type.Literal('no'),
  termination: UnstartedTermination,
});

/** The executor ended before it could record whether a process existed. */
export const UnknownReceipt = Closed({
  ...common,
  ...unboundParts,
  /** Unknown when the executor ended before it had decided. */
  policy: Nullable(PolicyDecision),
  started: Type.Literal('unknown'),
  termination: UnknownTermination,
});

export const CommandReceipt = Type.Union([StartedReceipt, UnstartedReceipt, UnknownReceipt]);
export type StartedReceipt = Static<typeof StartedReceipt>;
export type UnstartedReceipt = Static<typeof UnstartedReceipt>;
export type UnknownReceipt = Static<typeof UnknownReceipt>;
export type CommandReceipt = Static<typeof CommandReceipt>;

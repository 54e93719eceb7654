/** The closed lists of the contract. Adding a code is a change of the format: `docs/format.md` lists them all. */

/** Facts that hold beside any termination and keep a receipt from backing a hard gate. */
export const FLAGS = [
  'EVIDENCE_BLOCKED',
  'EXECUTABLE_REBOUND',
  'KEY_EXPOSED_AT_START',
  'SCRIPT_REBOUND',
  'UNBOUND_CWD',
  'UNBOUND_EXECUTABLE',
  'UNKILLABLE',
] as const;
export type Flag = (typeof FLAGS)[number];

/** Why a fact is absent or weaker than it reads, and whether that bars a hard gate. */
export const GAP_BARS_HARD_GATE = {
  /** `ld.so` and shared libraries are chosen by the loader after exec. */
  'dynamic-loader-unbound': false,
  /** Programs that the launched program starts itself are beyond the boundary. */
  'first-exec': false,
  /** Landlock has no line in `/proc/<pid>/status`. */
  'landlock-not-readable': false,
  /** The process was gone before `/proc/<pid>/exe` could be compared. */
  'exe-link-unreadable': false,
  /** Other processes of the same user could read the executor's memory. */
  'executor-unprotected': true,
  /** The HMAC key was made for this executor and is kept nowhere. */
  'unverifiable-later': false,
  /** The digest of the running program could not be taken. */
  'dist-digest-unknown': true,
  /** This platform, kernel or file system offers no object binding. */
  'platform-unbound': true,
  'cwd-unbound': true,
  /** A registered secret is too short or structural to be masked. */
  'literal-skipped': true,
  /** A platform variable that names the context was not set. */
  'context-unknown': true,
  /** The executor ended before the stage was recorded. */
  'executor-crashed': true,
  /** The journal's line MACs could not be checked by the recoverer. */
  'journal-unauthenticated': true,
  /** The kernel did not report the fact. */
  'not-observed': true,
  /** The evidence could not be written: a full disk or an unwritable store. */
  'store-failed': true,
  /** A pattern was still open when the stream ended; everything behind its start was redacted. */
  'redaction-unterminated': false,
} as const;
export type GapCode = keyof typeof GAP_BARS_HARD_GATE;
export const GAP_CODES = Object.keys(GAP_BARS_HARD_GATE) as GapCode[];

export interface Gap {
  /** JSON pointer of the field concerned. */
  readonly field: string;
  readonly reason: GapCode;
  /** Redacted, for people. */
  readonly detail?: string;
}

/** What a verdict can give as its reason. */
export const VERDICT_CODES = [
  'NEVER_STARTED',
  'MISSING_TERMINATED',
  'UNKNOWN_TERMINATION',
  'FIELD_MISSING',
  'SCHEMA_UNSUPPORTED',
  'MALFORMED',
  'INVALID_SIGNATURE',
  'UNTRUSTED_SIGNER',
  'KEY_NOT_VALID_AT_TIME',
  'MIXED_SIGNERS',
  'CHAIN_BROKEN',
  'CHAIN_GAP',
  'CHAIN_FORK',
  'CHAIN_OPEN',
  'CHAIN_EMPTY',
  'CHAIN_NOT_ASSESSED',
  'HEAD_MISSING',
  'JOURNAL_BROKEN',
  'UNEXPECTED_FILE',
  'BYTE_ACCOUNTING',
  'OUTPUT_DIGEST',
  'OUTPUT_MISSING',
  'EVIDENCE_BLOCKED',
  'TRUNCATION_UNACCEPTABLE',
  'UNBOUND_EXECUTABLE',
  'UNBOUND_CWD',
  'EXECUTABLE_REBOUND',
  'SCRIPT_REBOUND',
  'POLICY_DIGEST_MISMATCH',
  'POLICY_DENIED',
  'CONTEXT_MISMATCH',
  'DUPLICATE',
  'DERIVED_WITHOUT_ORIGINAL',
] as const;
export type VerdictCode = (typeof VERDICT_CODES)[number];

export const BINDING_METHODS = ['fs-verity', 'lease', 'root-owned', 'cas-lease', 'memfd', 'none'] as const;
export type BindingMethod = (typeof BINDING_METHODS)[number];

export const ENVIRONMENT_CLASSES = ['standard', 'ci', 'config', 'secret', 'loader-control', 'internal'] as const;
export type EnvironmentClass = (typeof ENVIRONMENT_CLASSES)[number];

export const CUSTODIES = ['reachable-by-command', 'process-memory', 'other-user'] as const;
export type Custody = (typeof CUSTODIES)[number];

export const TRUNCATION_REASONS = ['none', 'quota', 'policy', 'reader-stopped', 'blocked'] as const;
export const STREAM_CLOSINGS = ['eof', 'grace-expired', 'consumer-closed', 'reader-stopped', 'read-error'] as const;

export const JOURNAL_EVENTS = [
  'OPENED',
  'REQUESTED',
  'BOUND',
  'STARTED',
  'TIMEOUT_TERM',
  'TIMEOUT_KILL',
  'TERMINATED',
  'REFUSED',
  'START_FAILED',
  'UNKNOWN_TERMINATION',
  'SEALED',
  'CLOSED',
] as const;
export type JournalEventName = (typeof JOURNAL_EVENTS)[number];

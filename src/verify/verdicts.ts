import type { ErrorCode, VerdictCode } from '../contract/index.ts';
import type { CommandFacts } from './facts.ts';

export type Verdict = 'integrity' | 'signer' | 'completeness' | 'policy';
export type VerdictStatus = 'pass' | 'fail' | 'not-assessed';
export type Verdicts = Record<Verdict, VerdictStatus>;

export interface Problem {
  readonly verdict: Verdict;
  readonly code: VerdictCode;
  /** A file, `file:line`, or `file#/json/pointer` of a statement's payload. */
  readonly where: string;
  readonly message: string;
}

export interface SignerName {
  /** Null where no signature could be read. */
  readonly keyId: string | null;
  /** For people: `local key`, `trusted key`, `untrusted key`, `unknown`. */
  readonly label: string;
}

export interface ReceiptVerification {
  /** Of the receipt's envelope. */
  readonly path: string;
  /** From the payload; where that is unreadable, the directory's name if it is an id. */
  readonly receiptId: string | null;
  /** Null unless the payload is intact and of a known version. Of an untrusted signer they are that signer's claims. */
  readonly facts: CommandFacts | null;
  readonly verdicts: Verdicts;
  readonly verified: boolean;
  readonly problems: readonly Problem[];
  readonly notes: readonly string[];
  readonly signer: SignerName;
}

/** A command that was asked for and has no receipt. */
export interface UnsealedAttempt {
  readonly receiptId: string;
  readonly lastStage: string;
  readonly missingStage: string;
}

export interface ChainVerification {
  /** Of the task directory. */
  readonly path: string;
  readonly taskId: string | null;
  readonly chainId: string | null;
  readonly state: 'open' | 'closed' | null;
  /** Receipts found. */
  readonly count: number;
  /** The worst of the chain's own and its receipts'. */
  readonly verdicts: Verdicts;
  readonly verified: boolean;
  /** Of the chain itself; those of a receipt stand with it. */
  readonly problems: readonly Problem[];
  readonly notes: readonly string[];
  readonly receipts: readonly ReceiptVerification[];
  readonly unsealed: readonly UnsealedAttempt[];
}

/** An input that could not be judged at all. */
export interface InputError {
  readonly path: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly next?: string;
}

export interface Verification {
  readonly schema: 'command-receipts.verification.v1';
  readonly ok: boolean;
  /** 0: all verified; 1: something is not; 2: an input was unusable. */
  readonly exitCode: 0 | 1 | 2;
  readonly chains: readonly ChainVerification[];
  /** Receipts given outside their chain. */
  readonly receipts: readonly ReceiptVerification[];
  readonly errors: readonly InputError[];
}

export const VERDICTS: readonly Verdict[] = ['integrity', 'signer', 'completeness', 'policy'];

/** docs/format.md §8: which verdict a code is a reason for. */
export const VERDICT_OF: Readonly<Record<VerdictCode, Verdict>> = {
  NEVER_STARTED: 'completeness',
  MISSING_TERMINATED: 'completeness',
  UNKNOWN_TERMINATION: 'completeness',
  FIELD_MISSING: 'completeness',
  SCHEMA_UNSUPPORTED: 'integrity',
  MALFORMED: 'integrity',
  INVALID_SIGNATURE: 'integrity',
  UNTRUSTED_SIGNER: 'signer',
  KEY_NOT_VALID_AT_TIME: 'signer',
  MIXED_SIGNERS: 'signer',
  CHAIN_BROKEN: 'integrity',
  CHAIN_GAP: 'completeness',
  CHAIN_FORK: 'integrity',
  CHAIN_OPEN: 'completeness',
  CHAIN_EMPTY: 'completeness',
  CHAIN_NOT_ASSESSED: 'completeness',
  HEAD_MISSING: 'completeness',
  JOURNAL_BROKEN: 'integrity',
  UNEXPECTED_FILE: 'integrity',
  BYTE_ACCOUNTING: 'integrity',
  OUTPUT_DIGEST: 'integrity',
  OUTPUT_MISSING: 'completeness',
  EVIDENCE_BLOCKED: 'completeness',
  TRUNCATION_UNACCEPTABLE: 'policy',
  UNBOUND_EXECUTABLE: 'completeness',
  UNBOUND_CWD: 'completeness',
  EXECUTABLE_REBOUND: 'completeness',
  SCRIPT_REBOUND: 'completeness',
  POLICY_DIGEST_MISMATCH: 'policy',
  POLICY_DENIED: 'policy',
  CONTEXT_MISMATCH: 'policy',
  DUPLICATE: 'integrity',
  DERIVED_WITHOUT_ORIGINAL: 'integrity',
};

/** *Verified* is four times `pass`. */
export function isVerified(verdicts: Verdicts): boolean {
  return VERDICTS.every((verdict) => verdicts[verdict] === 'pass');
}

/** Of each verdict the worst: a failure over what was not assessed, that over a pass. */
export function worst(all: readonly Verdicts[]): Verdicts {
  const one = (verdict: Verdict): VerdictStatus => {
    if (all.some((verdicts) => verdicts[verdict] === 'fail')) return 'fail';
    return all.some((verdicts) => verdicts[verdict] === 'not-assessed') ? 'not-assessed' : 'pass';
  };
  return {
    integrity: one('integrity'),
    signer: one('signer'),
    completeness: one('completeness'),
    policy: one('policy'),
  };
}

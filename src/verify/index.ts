export { describeVerification } from './describe.ts';
export type { CommandFacts, StreamName } from './facts.ts';
export type { VerifyOptions } from './options.ts';
export { readOutput, readPayload, readUnverifiedOutput, type StoredOutput } from './stored-output.ts';
export type {
  ChainVerification,
  InputError,
  Problem,
  ReceiptVerification,
  SignerName,
  UnsealedAttempt,
  Verdict,
  VerdictStatus,
  Verdicts,
  Verification,
} from './verdicts.ts';
export { verifyPaths } from './verify-paths.ts';

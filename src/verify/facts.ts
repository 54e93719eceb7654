import type {
  CommandReceipt,
  Cwd,
  ProgramFile,
  RequestedOnly,
  StartedReceipt,
  StreamEvidence,
  Termination,
} from '../contract/index.ts';

export type StreamName = 'stdout' | 'stderr';
export const STREAM_NAMES: readonly StreamName[] = ['stdout', 'stderr'];

/**
 * What a receipt of any version says, in one shape that is always whole: what its kind does not have is null. Whoever shows,
 * gates or reports reads this and never a version's own document.
 */
export interface CommandFacts {
  /** The version it was read from. */
  readonly schema: string;
  readonly receiptId: string;
  /** `sha256:` digest of the signed payload: what the next receipt and the journal link to. */
  readonly receiptDigest: string;
  readonly task: CommandReceipt['task'];
  readonly chain: CommandReceipt['chain'];
  readonly context: CommandReceipt['context'];
  readonly command: CommandReceipt['command'];
  /** Redacted. */
  readonly argv: readonly string[];
  readonly started: CommandReceipt['started'];
  readonly cwd: Cwd | RequestedOnly;
  readonly executable: ProgramFile | RequestedOnly;
  readonly interpreters: readonly ProgramFile[];
  readonly script: CommandReceipt['script'] | null;
  readonly environment: CommandReceipt['environment'];
  readonly policy: CommandReceipt['policy'];
  readonly sandbox: StartedReceipt['sandbox'] | null;
  readonly time: CommandReceipt['time'];
  readonly process: StartedReceipt['process'] | null;
  readonly termination: Termination;
  /** Null for a command that never became a process. */
  readonly streams: Readonly<Record<StreamName, StreamEvidence | null>> | null;
  readonly redaction: CommandReceipt['redaction'];
  readonly evidence: CommandReceipt['evidence'];
  readonly executor: CommandReceipt['executor'];
  readonly rollout: CommandReceipt['rollout'];
}

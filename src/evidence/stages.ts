import type {
  Command,
  CommandReceipt,
  Context,
  Cwd,
  Environment,
  Executor,
  Flag,
  Gap,
  PolicyDecision,
  Process,
  ProgramFile,
  RequestedOnly,
  Sandbox,
  Script,
} from '../contract/index.ts';

/** What each journal line of an attempt carries, redacted: together they are the receipt, should its executor be lost. */
export interface RequestedFacts {
  readonly task: CommandReceipt['task'];
  readonly context: Context;
  readonly command: Command;
  readonly argv: string[];
  readonly cwd: RequestedOnly;
  readonly executable: RequestedOnly;
  readonly environment: Environment;
  readonly time: { readonly monotonicStartNs: string; readonly bootId: string | null; readonly startedAt: string };
  readonly redaction: CommandReceipt['redaction'];
  readonly executor: Executor;
  readonly rollout: CommandReceipt['rollout'];
  readonly flags: Flag[];
  readonly gaps: Gap[];
}

export interface BoundStageFacts {
  readonly command: Command;
  readonly argv: string[];
  readonly cwd: Cwd;
  readonly executable: ProgramFile;
  readonly interpreters: ProgramFile[];
  readonly script?: Script;
  readonly policy: PolicyDecision;
  readonly flags: Flag[];
  readonly gaps: Gap[];
}

export interface StartedStageFacts {
  readonly process: Process;
  readonly sandbox: Sandbox;
  readonly time: { readonly monotonicStartNs: string; readonly startedAt: string };
}

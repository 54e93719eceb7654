import type { ReceiptsError, Termination } from '../contract/index.ts';
import type { AttemptStore, SealedReceipt } from '../evidence/index.ts';
import type { Ending } from './ending.ts';
import type { AttemptRequest, ExecutorSettings, Plan } from './plan.ts';
import type { Recorder } from './recorder.ts';

/** What became of one command and of its evidence. */
export interface AttemptResult {
  readonly receiptId: string;
  readonly taskId: string;
  readonly taskDirectory: string;
  readonly termination: Termination;
  /** What `receipts run` exits with. */
  readonly exitCode: number;
  /** Undefined when the receipt could not be stored; `storeError` says why. */
  readonly sealed: SealedReceipt | undefined;
  readonly storeError: ReceiptsError | undefined;
  /** What a person can do about a command that was never started. */
  readonly next: string | undefined;
  /** Redacts a text with everything that this attempt knew to be secret. */
  readonly redact: (text: string) => string;
}

/** What the functions of one attempt pass to each other. */
export interface Attempt {
  readonly request: AttemptRequest;
  readonly settings: ExecutorSettings;
  readonly plan: Plan;
  readonly place: AttemptStore;
  readonly ending: Ending;
  readonly record: Recorder;
}

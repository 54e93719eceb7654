import type { ChainPosition } from '../contract/index.ts';
import type { Journal, JournalClock } from './journal.ts';
import type { AttemptState } from './journal-state.ts';
import type { Locks } from './lock.ts';
import type { Signer } from './signing.ts';

export interface TaskOptions {
  readonly store: string;
  readonly taskId: string;
  readonly signer: Signer;
  readonly locks: Locks;
  readonly clock?: JournalClock;
  /** The task has no name of its own: it ends with its one attempt. */
  readonly automatic?: boolean;
  /** For reading and recovery; everything else refuses a closed task before anything is launched. */
  readonly closedIsFine?: boolean;
}

/** What an attempt needs of the task that it belongs to. */
export interface OpenTask {
  readonly directory: string;
  readonly workDirectory: string;
  readonly journal: Journal;
  locked<T>(work: () => T): T;
  nextPosition(): ChainPosition;
  completeInterruptedSeal(attempt: AttemptState): boolean;
  writeHead(): void;
}

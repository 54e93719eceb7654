import { existsSync, lstatSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { chainGenesis, decodeEnvelope, digestOf, type Head, PAYLOAD_TYPES, ReceiptsError } from '../contract/index.ts';
import { AttemptStore } from './attempt.ts';
import { makeDirectory, replaceFile, syncDirectory } from './files.ts';
import { Journal, type JournalClock, systemClock } from './journal.ts';
import type { AttemptState } from './journal-state.ts';
import {
  HEAD_FILE,
  JOURNAL_FILE,
  RECEIPT_FILE,
  RECEIPTS_DIRECTORY,
  receiptDirectory,
  taskDirectoryName,
  workFiles,
} from './layout.ts';
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

/** One task of a store: its journal, chain and head. Everything that writes to it does so under the task's lock. */
export class TaskStore {
  readonly directory: string;
  readonly taskId: string;
  readonly journal: Journal;
  readonly clock: JournalClock;
  readonly #options: TaskOptions;
  readonly #lockPath: string;
  readonly #inode: bigint;

  /** Opens the task or begins it. Nothing is launched before this has returned: an unwritable store refuses. */
  constructor(options: TaskOptions) {
    this.#options = options;
    this.taskId = options.taskId;
    this.clock = options.clock ?? systemClock;
    const name = taskDirectoryName(options.taskId);
    this.directory = join(options.store, name);
    const work = workFiles(options.store, name);
    prepareStore(options.store);
    makeDirectory(join(this.directory, RECEIPTS_DIRECTORY));
    makeDirectory(work.directory);
    this.#lockPath = work.lock;
    this.#inode = statSync(this.directory, { bigint: true }).ino;
    this.journal = new Journal(join(this.directory, JOURNAL_FILE), options.signer, this.clock);
    this.locked(() => this.#openChain());
  }

  /** Begins an attempt: REQUESTED is durable when this returns. */
  begin(
    receiptId: string,
    step: string | undefined,
    facts: (attempt: number) => Record<string, unknown>,
  ): AttemptStore {
    return this.locked(() => {
      this.#refuseClosed();
      const number = this.journal.state.nextAttempt(step);
      const attempt = new AttemptStore(this, this.#options, receiptId, number);
      try {
        attempt.record('REQUESTED', facts(number));
      } catch (error) {
        attempt.abandon();
        throw error;
      }
      return attempt;
    });
  }

  /** Runs synchronous work under the task's lock, with the journal read up to date. */
  locked<T>(work: () => T): T {
    const release = this.#options.locks.acquire(this.#lockPath);
    try {
      this.#refuseReplaced();
      this.journal.refresh();
      return work();
    } finally {
      release();
    }
  }

  /** Where the next receipt stands in the chain. Called under the lock. */
  nextPosition(): { id: string; sequence: number; previousReceiptDigest: string } {
    const { chainId, sealedCount, lastReceiptDigest } = this.journal.state;
    return {
      id: chainId,
      sequence: sealedCount + 1,
      previousReceiptDigest: sealedCount === 0 ? chainGenesis(chainId) : lastReceiptDigest,
    };
  }

  /**
   * A receipt that was written when its executor ended before SEALED was recorded: the record is made good, since the
   * next receipt would otherwise take its place in the chain. Called under the lock.
   */
  completeInterruptedSeal(attempt: AttemptState): boolean {
    const path = join(receiptDirectory(this.directory, attempt.receiptId), RECEIPT_FILE);
    if (!existsSync(path)) return false;
    const { payload } = decodeEnvelope(readFileSync(path), path);
    this.journal.append(
      'SEALED',
      { receiptDigest: digestOf(payload), chainSequence: this.nextPosition().sequence },
      attempt.receiptId,
    );
    return true;
  }

  writeHead(): void {
    const { chainId, digest, lines, sealedCount, lastReceiptDigest, closed } = this.journal.state;
    const head: Head = {
      schema: 'command-receipts.head.v1',
      taskId: this.taskId,
      chainId,
      count: sealedCount,
      lastReceiptDigest: sealedCount === 0 ? chainGenesis(chainId) : lastReceiptDigest,
      journalLines: lines,
      journalDigest: digest,
      state: closed ? 'closed' : 'open',
      bodiesExpireAt: null,
      signedAt: this.clock.now().toISOString(),
      keyId: this.#options.signer.keyId,
    };
    replaceFile(join(this.directory, HEAD_FILE), this.#options.signer.seal(PAYLOAD_TYPES.head, head).envelope);
  }

  /** Ends the chain for good. Attempts that are still open keep it open. */
  close(): void {
    this.locked(() => {
      const { state } = this.journal;
      if (state.unsealed().length > 0)
        throw new ReceiptsError('STORE_CORRUPT', `${state.unsealed().length} attempt(s) of this task are not sealed`, {
          where: this.directory,
          next: 'Wait for them to end, or run `receipts recover` if their executor is gone.',
        });
      if (!state.closed) this.journal.append('CLOSED', {});
      this.writeHead();
    });
  }

  dispose(): void {
    this.journal.close();
  }

  #openChain(): void {
    if (this.journal.state.lines > 0) {
      this.#refuseClosed();
      return;
    }
    const automatic = this.#options.automatic ?? false;
    this.journal.append('OPENED', { automatic, chainId: uuidv7(), taskId: this.taskId });
    syncDirectory(this.directory);
    syncDirectory(this.#options.store);
  }

  #refuseClosed(): void {
    if (!this.journal.state.closed || this.#options.closedIsFine) return;
    throw new ReceiptsError('TASK_CLOSED', `the task ${JSON.stringify(this.taskId)} is closed, and closed is final`, {
      where: this.directory,
      next: 'Name another task with --task, or leave it out to have each run be its own.',
    });
  }

  #refuseReplaced(): void {
    const now = lstatSync(this.directory, { bigint: true, throwIfNoEntry: false });
    if (now?.isDirectory() && now.ino === this.#inode) return;
    throw new ReceiptsError('STORE_UNWRITABLE', 'the task directory was removed or replaced while it was in use', {
      where: this.directory,
      next: 'Keep the store out of reach of the command, for example with --store outside the work tree.',
    });
  }
}

/** Makes the store's directory, kept out of version control by a `.gitignore` of its own. */
function prepareStore(store: string): void {
  makeDirectory(store);
  const ignore = join(store, '.gitignore');
  try {
    writeFileSync(ignore, '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // There already, or the store is unwritable, which the next write reports with its path.
  }
}

import { existsSync, lstatSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import {
  type ChainPosition,
  chainGenesis,
  HEAD_FILE,
  type Head,
  JOURNAL_FILE,
  PAYLOAD_TYPES,
  RECEIPTS_DIRECTORY,
  ReceiptsError,
  taskDirectoryName,
} from '../contract/index.ts';
import { AttemptStore } from './attempt.ts';
import { makeDirectory, placeFile, removeIfThere, syncDirectory } from './files.ts';
import { readInterruptedSeal } from './interrupted-seal.ts';
import { Journal, type JournalClock, type JournalEntry, systemClock } from './journal.ts';
import type { AttemptState } from './journal-state.ts';
import { workFiles } from './layout.ts';
import type { OpenTask, TaskOptions } from './open-task.ts';

/** One task of a store: its journal, chain and head. Everything that writes to it does so under the task's lock. */
export class TaskStore implements OpenTask {
  readonly directory: string;
  readonly taskId: string;
  readonly clock: JournalClock;
  readonly workDirectory: string;
  readonly #options: TaskOptions;
  readonly #lockPath: string;
  #journal: Journal | undefined;
  #inode: bigint | undefined;

  /** Refuses a task that is closed or damaged. What is not there yet is made by the first attempt. */
  constructor(options: TaskOptions) {
    this.#options = options;
    this.taskId = options.taskId;
    this.clock = options.clock ?? systemClock;
    const name = taskDirectoryName(options.taskId);
    this.directory = join(options.store, name);
    const work = workFiles(options.store, name);
    this.workDirectory = work.directory;
    this.#lockPath = work.lock;
    if (existsSync(join(this.directory, JOURNAL_FILE))) this.locked(() => this.#refuseClosed());
  }

  get journal(): Journal {
    if (this.#journal === undefined)
      throw new ReceiptsError('INTERNAL', 'the journal of a task is used under its lock');
    return this.#journal;
  }

  /**
   * Begins an attempt: REQUESTED is durable when this returns. Nothing is launched before: a store that cannot take it
   * refuses here, and is left as it was.
   */
  begin(
    receiptId: string,
    step: string | undefined,
    facts: (attempt: number) => Record<string, unknown>,
  ): AttemptStore {
    prepareStore(this.#options.store);
    const isNew = !existsSync(this.directory);
    return this.locked(() => {
      this.#refuseClosed();
      const number = this.journal.state.nextAttempt(step);
      let attempt: AttemptStore | undefined;
      try {
        attempt = new AttemptStore(this, this.#options, receiptId, number);
        this.journal.appendAll([...this.#opening(), { event: 'REQUESTED', facts: facts(number), receiptId }]);
        if (isNew) this.#syncNames();
        return attempt;
      } catch (error) {
        attempt?.withdraw();
        if (this.journal.state.lines === 0) this.#removeEmpty();
        throw error;
      }
    });
  }

  /** Runs synchronous work under the task's lock, with the journal read up to date. */
  locked<T>(work: () => T): T {
    if (this.#inode === undefined) makeDirectory(this.workDirectory);
    const release = this.#options.locks.acquire(this.#lockPath);
    try {
      this.#open();
      this.journal.refresh();
      return work();
    } finally {
      release();
    }
  }

  /** Where the next receipt stands in the chain. Called under the lock. */
  nextPosition(): ChainPosition {
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
  completeInterruptedSeal({ receiptId }: AttemptState): boolean {
    const position = this.nextPosition();
    const receiptDigest = readInterruptedSeal(this.directory, receiptId, position, this.#options.signer);
    if (receiptDigest === undefined) return false;
    this.journal.append('SEALED', { receiptDigest, chainSequence: position.sequence }, receiptId);
    return true;
  }

  writeHead(): void {
    const { chainId, digest, lines, sealedCount, closed } = this.journal.state;
    const head: Head = {
      schema: 'command-receipts.head.v1',
      taskId: this.taskId,
      chainId,
      count: sealedCount,
      lastReceiptDigest: this.nextPosition().previousReceiptDigest,
      journalLines: lines,
      journalDigest: digest,
      state: closed ? 'closed' : 'open',
      bodiesExpireAt: null,
      signedAt: this.clock.now().toISOString(),
      keyId: this.#options.signer.keyId,
    };
    const { envelope } = this.#options.signer.seal(PAYLOAD_TYPES.head, head);
    placeFile(join(this.directory, HEAD_FILE), envelope, this.workDirectory);
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
    this.#journal?.close();
    this.#journal = undefined;
  }

  #open(): void {
    if (this.#inode === undefined) makeDirectory(join(this.directory, RECEIPTS_DIRECTORY));
    const ino = inodeOf(this.directory);
    if (ino === undefined || (this.#inode !== undefined && this.#inode !== ino)) this.#refuseReplaced();
    this.#inode = ino;
    this.#journal ??= new Journal(join(this.directory, JOURNAL_FILE), this.#options.signer, this.clock);
    if (inodeOf(this.#journal.path) !== this.#journal.inode) this.#refuseReplaced();
  }

  #opening(): JournalEntry[] {
    if (this.journal.state.lines > 0) return [];
    const automatic = this.#options.automatic ?? false;
    return [{ event: 'OPENED', facts: { automatic, chainId: uuidv7(), taskId: this.taskId } }];
  }

  #syncNames(): void {
    syncDirectory(this.directory);
    syncDirectory(this.#options.store);
  }

  /** A task whose first attempt could not be recorded was never there. */
  #removeEmpty(): void {
    this.dispose();
    removeIfThere(join(this.directory, JOURNAL_FILE));
    for (const directory of [join(this.directory, RECEIPTS_DIRECTORY), this.directory]) {
      try {
        rmdirSync(directory);
      } catch {
        // Not empty after all: then it is not ours to remove.
      }
    }
    this.#inode = undefined;
  }

  #refuseClosed(): void {
    if (!this.journal.state.closed || this.#options.closedIsFine) return;
    throw new ReceiptsError('TASK_CLOSED', `the task ${JSON.stringify(this.taskId)} is closed, and closed is final`, {
      where: this.directory,
      next: 'Name another task with --task, or leave it out to have each run be its own.',
    });
  }

  #refuseReplaced(): never {
    throw new ReceiptsError('STORE_UNWRITABLE', 'the task directory was removed or replaced while it was in use', {
      where: this.directory,
      next: 'Keep the store out of reach of the command, for example with --store outside the work tree.',
    });
  }
}

function inodeOf(path: string): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Makes the store's directory, kept out of version control by a `.gitignore` of its own. */
function prepareStore(store: string): void {
  makeDirectory(store);
  try {
    writeFileSync(join(store, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // There already, or the store is unwritable, which the next write reports with its path.
  }
}

import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandReceipt, digestOf, type JournalEventName, PAYLOAD_TYPES } from '../contract/index.ts';
import { ChunkFile } from './chunk-file.ts';
import { makeDirectory, orStoreError, syncDirectory, writeAll, writeNewFile } from './files.ts';
import { CHUNKS_FILE, RECEIPT_FILE, receiptDirectory, workFiles } from './layout.ts';
import type { TaskOptions, TaskStore } from './task.ts';

export interface Body {
  readonly stream: 'stdout' | 'stderr';
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly cut: boolean;
}

export interface SealedReceipt {
  readonly receiptId: string;
  readonly path: string;
  readonly digest: string;
  readonly receipt: CommandReceipt;
}

/** Blocks set aside when an attempt begins, so that a disk that fills up still has room for the receipt that says so. */
const RESERVE_BYTES = 256 * 1024;

/** One attempt's place in the store, from REQUESTED to SEALED. */
export class AttemptStore {
  readonly receiptId: string;
  readonly attempt: number;
  readonly directory: string;
  readonly #task: TaskStore;
  readonly #options: TaskOptions;
  readonly #work;
  readonly #unlock: () => void;
  #chunks: ChunkFile | undefined;

  constructor(task: TaskStore, options: TaskOptions, receiptId: string, attempt: number) {
    this.#task = task;
    this.#options = options;
    this.receiptId = receiptId;
    this.attempt = attempt;
    this.directory = receiptDirectory(task.directory, receiptId);
    this.#work = workFiles(options.store, receiptId);
    this.#unlock = options.locks.acquire(this.#work.lock);
    try {
      makeDirectory(this.directory);
      setAside(this.#work.reserve);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** Appends a durable journal line; the task's lock is taken when it is not held. */
  record(event: JournalEventName, facts: Record<string, unknown>): void {
    this.#task.journal.append(event, facts, this.receiptId);
  }

  recordLocked(event: JournalEventName, facts: Record<string, unknown>): void {
    this.#task.locked(() => this.record(event, facts));
  }

  /** Records the end of the process; a disk that filled up meanwhile gets the room that was set aside. */
  recordEnd(event: JournalEventName, facts: Record<string, unknown>): void {
    try {
      this.recordLocked(event, facts);
    } catch {
      this.releaseReserve();
      this.recordLocked(event, facts);
    }
  }

  chunkFile(): ChunkFile {
    this.#chunks ??= new ChunkFile(this.#work.chunks);
    return this.#chunks;
  }

  /** Writes bodies and chunk records durably. Throws STORE_UNWRITABLE; `dropBodies` then takes back what was written. */
  writeBodies(bodies: readonly Body[]): void {
    for (const body of bodies)
      for (const [name, bytes] of filesOf(body)) if (bytes.length > 0) writeNewFile(join(this.directory, name), bytes);
    this.#chunks?.finish(join(this.directory, CHUNKS_FILE));
  }

  dropBodies(): void {
    const names = ['stdout', 'stderr'].flatMap((stream) => [
      `${stream}.txt`,
      `${stream}.head.txt`,
      `${stream}.tail.txt`,
    ]);
    for (const name of [...names, CHUNKS_FILE]) removeIfThere(join(this.directory, name));
    this.#chunks?.discard();
    this.#chunks = undefined;
  }

  /** Gives back the blocks that were set aside. */
  releaseReserve(): void {
    removeIfThere(this.#work.reserve);
  }

  /**
   * Signs the receipt at the next place of the chain. Order: receipt file durable, then SEALED, then head; an end in
   * between is made good by the next writer.
   */
  seal(assemble: (position: CommandReceipt['chain']) => CommandReceipt, options: { close: boolean }): SealedReceipt {
    this.releaseReserve();
    const sealed = this.#task.locked(() => {
      for (const other of this.#task.journal.state.unsealed())
        if (other.receiptId !== this.receiptId) this.#task.completeInterruptedSeal(other);
      const position = this.#task.nextPosition();
      const receipt = assemble(position);
      const { payload, envelope } = this.#options.signer.seal(PAYLOAD_TYPES.receipt, receipt);
      const path = join(this.directory, RECEIPT_FILE);
      writeNewFile(path, envelope);
      orStoreError(this.directory, () => {
        syncDirectory(this.directory);
        syncDirectory(join(this.directory, '..'));
      });
      const digest = digestOf(payload);
      this.record('SEALED', { chainSequence: position.sequence, receiptDigest: digest });
      if (options.close && this.#task.journal.state.unsealed().length === 0) this.#task.journal.append('CLOSED', {});
      this.#task.writeHead();
      return { receiptId: this.receiptId, path, digest, receipt };
    });
    this.abandon();
    return sealed;
  }

  /** Lets go of the working files and the attempt's lock. */
  abandon(): void {
    removeIfThere(this.#work.reserve);
    removeIfThere(this.#work.chunks);
    removeIfThere(this.#work.lock);
    this.#unlock();
  }
}

function filesOf(body: Body): Array<[name: string, bytes: Buffer]> {
  if (!body.cut) return [[`${body.stream}.txt`, Buffer.concat([body.head, body.tail])]];
  return [
    [`${body.stream}.head.txt`, body.head],
    [`${body.stream}.tail.txt`, body.tail],
  ];
}

function setAside(path: string): void {
  orStoreError(path, () => {
    const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600);
    try {
      writeAll(fd, Buffer.alloc(RESERVE_BYTES));
    } finally {
      closeSync(fd);
    }
  });
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Not there, or not removable: neither changes the evidence.
  }
}

import { closeSync, constants, existsSync, openSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  bodyFile,
  CHUNKS_FILE,
  type CommandReceipt,
  digestOf,
  type JournalEventName,
  PAYLOAD_TYPES,
  RECEIPT_FILE,
} from '../contract/index.ts';
import { ChunkFile } from './chunk-file.ts';
import {
  makeDirectory,
  orStoreError,
  placeFile,
  removeIfThere,
  syncDirectory,
  writeAll,
  writeNewFile,
} from './files.ts';
import { receiptDirectory, workFiles } from './layout.ts';
import type { OpenTask, TaskOptions } from './open-task.ts';

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
  /** Open before anything is launched: what cannot be opened then refuses. */
  readonly chunks: ChunkFile;
  readonly #task: OpenTask;
  readonly #options: TaskOptions;
  readonly #work;
  #unlock: (() => void) | undefined;

  /** `unlock` gives back a lock of the attempt that is held already. */
  constructor(task: OpenTask, options: TaskOptions, receiptId: string, attempt: number, unlock?: () => void) {
    this.#task = task;
    this.#options = options;
    this.receiptId = receiptId;
    this.attempt = attempt;
    this.directory = receiptDirectory(task.directory, receiptId);
    this.#work = workFiles(options.store, receiptId);
    this.#unlock = unlock ?? options.locks.acquire(this.#work.lock);
    try {
      setAside(this.#work.reserve);
      this.chunks = new ChunkFile(this.#work.chunks);
      makeDirectory(this.directory);
    } catch (error) {
      removeIfThere(this.#work.reserve);
      removeIfThere(this.#work.chunks);
      this.#letGo();
      throw error;
    }
  }

  /** Appends a durable journal line; the task's lock is held already. */
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

  /** Writes bodies and chunk records durably. Throws STORE_UNWRITABLE; `dropBodies` then takes back what was written. */
  writeBodies(bodies: readonly Body[]): void {
    for (const body of bodies)
      for (const [name, bytes] of filesOf(body)) if (bytes.length > 0) writeNewFile(join(this.directory, name), bytes);
    this.chunks.finish(join(this.directory, CHUNKS_FILE));
  }

  dropBodies(): void {
    const names = (['stdout', 'stderr'] as const).flatMap((stream) =>
      (['whole', 'head', 'tail'] as const).map((part) => bodyFile(stream, part)),
    );
    for (const name of [...names, CHUNKS_FILE]) removeIfThere(join(this.directory, name));
    this.chunks.discard();
  }

  /** Moves a receipt that was never finished out of the evidence; it stays among the working files. */
  setDamagedReceiptAside(): void {
    const path = join(this.directory, RECEIPT_FILE);
    if (existsSync(path)) orStoreError(path, () => renameSync(path, this.#work.damaged));
  }

  /** Gives back the blocks that were set aside. */
  releaseReserve(): void {
    removeIfThere(this.#work.reserve);
  }

  /**
   * Signs the receipt at the next place of the chain. Order: receipt file in place, then SEALED, then head; an end in
   * between is made good by the next writer.
   */
  seal(assemble: (position: CommandReceipt['chain']) => CommandReceipt, options: { close: boolean }): SealedReceipt {
    this.releaseReserve();
    const sealed = this.#task.locked(() => {
      const { journal } = this.#task;
      for (const other of journal.state.unsealed())
        if (other.receiptId !== this.receiptId) this.#task.completeInterruptedSeal(other);
      const position = this.#task.nextPosition();
      const receipt = assemble(position);
      const { payload, envelope } = this.#options.signer.seal(PAYLOAD_TYPES.receipt, receipt);
      const path = join(this.directory, RECEIPT_FILE);
      placeFile(path, envelope, this.#task.workDirectory);
      orStoreError(this.directory, () => syncDirectory(join(this.directory, '..')));
      const digest = digestOf(payload);
      const last = journal.state.unsealed().every((other) => other.receiptId === this.receiptId);
      const facts = { chainSequence: position.sequence, receiptDigest: digest };
      const entry = { event: 'SEALED' as const, facts, receiptId: this.receiptId };
      journal.appendAll(options.close && last ? [entry, { event: 'CLOSED', facts: {} }] : [entry]);
      this.#task.writeHead();
      return { receiptId: this.receiptId, path, digest, receipt };
    });
    this.abandon();
    return sealed;
  }

  /** Lets go of the working files and the attempt's lock. Safe to call twice. */
  abandon(): void {
    this.releaseReserve();
    this.chunks.discard();
    this.#letGo();
  }

  /** For an attempt that could not be recorded: as if it had never been asked for. */
  withdraw(): void {
    this.abandon();
    try {
      rmdirSync(this.directory);
    } catch {
      // Not empty: then it is not ours alone.
    }
  }

  #letGo(): void {
    if (this.#unlock === undefined) return;
    removeIfThere(this.#work.lock);
    this.#unlock();
    this.#unlock = undefined;
  }
}

function filesOf(body: Body): Array<[name: string, bytes: Buffer]> {
  if (!body.cut) return [[bodyFile(body.stream, 'whole'), Buffer.concat([body.head, body.tail])]];
  return [
    [bodyFile(body.stream, 'head'), body.head],
    [bodyFile(body.stream, 'tail'), body.tail],
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

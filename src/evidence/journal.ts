import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from 'node:fs';
import {
  canonicalText,
  digestOf,
  type JournalEventName,
  type JournalLine,
  journalGenesis,
  ReceiptsError,
} from '../contract/index.ts';
import { orStoreError, writeAll } from './files.ts';
import { JournalState, journalMac, type LineCheck, readJournalLine } from './journal-state.ts';
import type { Signer } from './signing.ts';

export interface JournalClock {
  now(): Date;
  /** CLOCK_MONOTONIC nanoseconds. */
  monotonicNs(): bigint;
}

export const systemClock: JournalClock = { now: () => new Date(), monotonicNs: () => process.hrtime.bigint() };

export interface JournalEntry {
  readonly event: JournalEventName;
  readonly facts: Record<string, unknown>;
  readonly receiptId?: string | undefined;
}

/**
 * The append-only record of a task. Every line is durable (write, fsync) before the step that depends on it. Several
 * processes may append: all calls are made under the task's lock, and each begins by reading what others have added.
 */
export class Journal {
  readonly path: string;
  readonly state = new JournalState();
  readonly #signer: Signer;
  readonly #clock: JournalClock;
  readonly #check: LineCheck;
  readonly #fd: number;
  readonly inode: bigint;
  #size = 0;
  /** Bytes of an unfinished last line, cut away before the next one. */
  #torn = 0;

  constructor(path: string, signer: Signer, clock: JournalClock) {
    this.path = path;
    this.#signer = signer;
    this.#clock = clock;
    this.#check = { keyId: signer.keyId, journalKey: signer.journalKey, genesis: journalGenesis };
    this.#fd = orStoreError(path, () =>
      openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | SAFELY, 0o600),
    );
    try {
      this.inode = inodeOfFile(this.#fd, path);
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  /** Reads what others appended. Throws STORE_CORRUPT when it does not belong here. */
  refresh(): void {
    const size = fstatSync(this.#fd).size;
    if (size === this.#size) return;
    const check = (text: string) =>
      this.state.accept(readJournalLine(text, this.state, this.#check, `${this.path}:${this.state.lines + 1}`), text);
    const end = readLines(this.path, this.#fd, [this.#size, size], check);
    this.#size = end;
    this.#torn = size - end;
  }

  /** Appends one durable line. The facts are redacted already. */
  append(event: JournalEventName, facts: Record<string, unknown>, receiptId?: string): void {
    this.appendAll([{ event, facts, receiptId }]);
  }

  /** Appends lines that become durable together: all of them or none. */
  appendAll(entries: readonly JournalEntry[]): void {
    this.refresh();
    const made: Array<{ line: JournalLine; text: string }> = [];
    const tip = { chainId: this.state.chainId, lines: this.state.lines, digest: this.state.digest };
    for (const entry of entries) {
      const { line, text } = this.#make(entry, tip);
      made.push({ line, text });
      Object.assign(tip, { chainId: line.chainId, lines: tip.lines + 1, digest: digestOf(text) });
    }
    const bytes = Buffer.from(made.map(({ text }) => `${text}\n`).join(''), 'utf8');
    orStoreError(this.path, () => this.#write(bytes));
    for (const { line, text } of made) this.state.accept(line, text);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #make({ event, facts, receiptId }: JournalEntry, tip: { chainId: string; lines: number; digest: string }) {
    const chainId = event === 'OPENED' ? String(facts.chainId) : tip.chainId;
    const unsigned: Omit<JournalLine, 'mac'> = {
      schema: 'command-receipts.journal.v1',
      sequence: tip.lines,
      chainId,
      event,
      ...(receiptId !== undefined && { receiptId }),
      at: this.#clock.now().toISOString(),
      monotonicNs: this.#clock.monotonicNs().toString(),
      keyId: this.#signer.keyId,
      facts: this.#torn > 0 && tip.lines === this.state.lines ? { ...facts, tornBytesCut: this.#torn } : facts,
      previous: tip.lines === 0 ? journalGenesis(chainId) : tip.digest,
    };
    const line: JournalLine = { ...unsigned, mac: journalMac(unsigned, this.#signer.journalKey).toString('hex') };
    return { line, text: canonicalText(line) };
  }

  /** A line that could not be written whole is taken back, so that the journal never ends in half of one. */
  #write(bytes: Buffer): void {
    if (this.#torn > 0) ftruncateSync(this.#fd, this.#size);
    this.#torn = 0;
    try {
      writeAll(this.#fd, bytes);
      fsyncSync(this.#fd);
    } catch (error) {
      ftruncateSync(this.#fd, this.#size);
      throw error;
    }
    this.#size += bytes.length;
  }
}

/** The journal lies where others can write: what stands there must not hold us, and no link leads elsewhere. */
const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const PART_BYTES = 1024 * 1024;
/** A line holds the facts of one stage; the largest are names of environment variables. */
const LONGEST_LINE = 16 * PART_BYTES;

/** The first line, or undefined while there is no whole one. */
export function firstLine(path: string): string | undefined {
  const fd = orStoreError(path, () => openSync(path, constants.O_RDONLY | SAFELY));
  try {
    inodeOfFile(fd, path);
    let first: string | undefined;
    readLines(path, fd, [0, fstatSync(fd).size], (text) => {
      first = text;
      return 'enough';
    });
    return first;
  } finally {
    closeSync(fd);
  }
}

function inodeOfFile(fd: number, path: string): bigint {
  const stats = fstatSync(fd, { bigint: true });
  if (stats.isFile()) return stats.ino;
  throw corrupt('the journal is no regular file', path);
}

/** Hands over the whole lines between two offsets, in bounded memory; returns the offset behind the last of them. */
function readLines(
  path: string,
  fd: number,
  [from, to]: readonly [number, number],
  line: (text: string) => unknown,
): number {
  let rest: Buffer = Buffer.alloc(0);
  let read = from;
  while (read < to) {
    const part = Buffer.alloc(Math.min(PART_BYTES, to - read));
    const count = readSync(fd, part, 0, part.length, read);
    if (count === 0) break;
    read += count;
    rest = Buffer.concat([rest, part.subarray(0, count)]);
    let start = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      const stop = line(rest.toString('utf8', start, end)) === 'enough';
      start = end + 1;
      if (stop) return read;
    }
    rest = rest.subarray(start);
    if (rest.length > LONGEST_LINE) throw corrupt(`a line is longer than ${LONGEST_LINE} bytes`, path);
  }
  return read - rest.length;
}

function corrupt(message: string, where: string): ReceiptsError {
  return new ReceiptsError('STORE_CORRUPT', message, { where, next: 'Verify the store with `receipts verify`.' });
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalText, digestOf, type JournalLine, parseCanonical, ReceiptsError } from '../contract/index.ts';

/** An attempt as far as the journal knows it. */
export interface AttemptState {
  readonly receiptId: string;
  readonly lines: JournalLine[];
  sealed: boolean;
}

/** Everything that the next line of a journal depends on, gathered line by line. */
export class JournalState {
  lines = 0;
  digest = '';
  chainId = '';
  taskId = '';
  automatic = false;
  closed = false;
  sealedCount = 0;
  lastReceiptDigest = '';
  /** Lines whose MAC another key made: they cannot be authenticated here. */
  foreignLines = 0;
  readonly attempts = new Map<string, AttemptState>();
  readonly #attemptsByStep = new Map<string, number>();

  nextAttempt(step: string | undefined): number {
    return (this.#attemptsByStep.get(step ?? '') ?? 0) + 1;
  }

  unsealed(): AttemptState[] {
    return [...this.attempts.values()].filter((attempt) => !attempt.sealed);
  }

  /** Takes a line that is known to be right. */
  accept(line: JournalLine, text: string): void {
    this.lines++;
    this.digest = digestOf(text);
    const { facts } = line;
    if (line.event === 'OPENED') {
      this.chainId = line.chainId;
      this.taskId = String(facts.taskId);
      this.automatic = facts.automatic === true;
    }
    if (line.event === 'CLOSED') this.closed = true;
    if (line.receiptId !== undefined) this.#attempt(line, line.receiptId);
  }

  #attempt(line: JournalLine, receiptId: string): void {
    let attempt = this.attempts.get(receiptId);
    if (attempt === undefined) {
      attempt = { receiptId, lines: [], sealed: false };
      this.attempts.set(receiptId, attempt);
    }
    if (line.event === 'REQUESTED') {
      const task = line.facts.task as { step?: string } | undefined;
      this.#attemptsByStep.set(task?.step ?? '', this.nextAttempt(task?.step));
    }
    if (line.event === 'SEALED') {
      this.sealedCount = Number(line.facts.chainSequence);
      this.lastReceiptDigest = String(line.facts.receiptDigest);
      attempt.sealed = true;
      attempt.lines.length = 0;
    } else {
      attempt.lines.push(line);
    }
  }
}

/** docs/format.md §6.1: HMAC over the canonical line without `mac`. */
export function journalMac(line: Omit<JournalLine, 'mac'>, key: Buffer): Buffer {
  return createHmac('sha256', key).update(canonicalText(line)).digest();
}

export interface LineCheck {
  readonly keyId: string;
  readonly journalKey: Buffer;
  /** Digest that the line must link to; for the first line computed from its own chain id. */
  readonly genesis: (chainId: string) => string;
}

/**
 * Reads one stored line against the state before it. The store is writable by the command's user, so a line counts only
 * when it links to the one before and, where our own key made it, its MAC is right.
 */
export function readJournalLine(text: string, state: JournalState, check: LineCheck, where: string): JournalLine {
  const corrupt = (message: string) =>
    new ReceiptsError('STORE_CORRUPT', message, {
      where,
      next: 'Verify the store with `receipts verify`; begin a new task to go on.',
    });
  let line: JournalLine;
  try {
    line = parseCanonical(Buffer.from(text, 'utf8'), where) as JournalLine;
  } catch (error) {
    throw corrupt(error instanceof Error ? error.message : 'unreadable');
  }
  if (typeof line !== 'object' || line === null || typeof line.chainId !== 'string' || typeof line.facts !== 'object')
    throw corrupt('not a journal line');
  if (line.sequence !== state.lines) throw corrupt(`sequence ${line.sequence} where ${state.lines} was due`);
  const chainId = state.lines === 0 ? line.chainId : state.chainId;
  if (line.chainId !== chainId) throw corrupt('belongs to another chain');
  if (line.previous !== (state.lines === 0 ? check.genesis(chainId) : state.digest))
    throw corrupt('does not link to the line before it');
  if (line.keyId !== check.keyId) state.foreignLines++;
  else if (!macFits(line, check.journalKey)) throw corrupt('its authentication code is wrong');
  return line;
}

function macFits(line: JournalLine, key: Buffer): boolean {
  const { mac, ...rest } = line;
  const stated = Buffer.from(String(mac), 'hex');
  const computed = journalMac(rest, key);
  return stated.length === computed.length && timingSafeEqual(stated, computed);
}

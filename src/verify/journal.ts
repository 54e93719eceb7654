import { digestOf, type JournalLine, journalGenesis, parseCanonical, ReceiptsError } from '../contract/index.ts';
import { JournalLine as JournalLineSchema } from '../contract/schema/journal.ts';
import { fieldErrors } from '../contract/validate.ts';
import { Attempts } from './attempts.ts';
import { readLines } from './evidence-file.ts';
import type { Findings } from './findings.ts';
import { LARGEST_ENVELOPE } from './statement.ts';

/** What a journal says as far as it holds together. */
export interface JournalReading {
  /** Every line but perhaps a torn last one was read and fits. */
  readonly intact: boolean;
  /** Whole lines. */
  readonly lines: number;
  readonly chainId: string | undefined;
  readonly taskId: string | undefined;
  readonly closed: boolean;
  readonly attempts: Attempts;
  /** Digest of the line with the number asked for; undefined when the journal is shorter. */
  readonly digestAt: string | undefined;
}

/**
 * docs/format.md §6: the journal's lines link, and tell of each attempt in an order that can have happened. The line MACs need
 * the executor's secret and are not checked here; the head's signature over the last digest stands in for them.
 */
export function readJournal(path: string, digestOfLine: number, findings: Findings): JournalReading {
  const reader = new JournalReader(digestOfLine);
  let intact = false;
  try {
    const { lines, end } = readLines(path, LARGEST_ENVELOPE, (line) => reader.take(line));
    const fault = reader.fault ?? endFault(end);
    if (fault !== undefined)
      findings.add('JOURNAL_BROKEN', `${path}:${reader.fault === undefined ? lines + 1 : lines}`, fault);
    else if (lines === 0) findings.add('JOURNAL_BROKEN', path, 'is empty');
    intact = reader.fault === undefined && end !== 'too-long' && lines > 0;
  } catch (error) {
    if (!(error instanceof ReceiptsError)) throw error;
    findings.add('JOURNAL_BROKEN', path, error.message);
  }
  return reader.reading(intact);
}

function endFault(end: string): string | undefined {
  if (end === 'torn') return 'the last line is torn: it has no newline';
  return end === 'too-long' ? `longer than ${LARGEST_ENVELOPE} bytes` : undefined;
}

class JournalReader {
  fault: string | undefined;
  readonly #attempts = new Attempts();
  readonly #digestOfLine: number;
  #lines = 0;
  #previous = '';
  #chainId: string | undefined;
  #taskId: string | undefined;
  #closed = false;
  #digestAt: string | undefined;

  constructor(digestOfLine: number) {
    this.#digestOfLine = digestOfLine;
  }

  /** False stops the walk: behind a line that does not fit nothing can be told. */
  take(bytes: Buffer): boolean {
    const line = this.#parse(bytes);
    this.fault ??= line && (this.#linkFault(line) ?? this.#orderFault(line));
    if (line === undefined || this.fault !== undefined) return false;
    this.#lines++;
    this.#previous = digestOf(bytes);
    if (this.#lines === this.#digestOfLine) this.#digestAt = this.#previous;
    return true;
  }

  reading(intact: boolean): JournalReading {
    return {
      intact,
      lines: this.#lines,
      chainId: this.#chainId,
      taskId: this.#taskId,
      closed: this.#closed,
      attempts: this.#attempts,
      digestAt: this.#digestAt,
    };
  }

  /** §1.3 and §6.1: a canonical document with exactly the members of a line. */
  #parse(bytes: Buffer): JournalLine | undefined {
    try {
      const value = parseCanonical(bytes, '');
      const [first] = fieldErrors(JournalLineSchema, value);
      if (first === undefined) return value as JournalLine;
      this.fault = `${first.pointer} ${first.message}`;
    } catch (error) {
      if (!(error instanceof ReceiptsError)) throw error;
      this.fault = error.message;
    }
    return undefined;
  }

  /** §6.1: sequence from 0, one chain, and the digest of the line before. */
  #linkFault(line: JournalLine): string | undefined {
    if (line.sequence !== this.#lines) return `sequence ${line.sequence} where ${this.#lines} is due`;
    const first = this.#lines === 0;
    this.#chainId ??= line.chainId;
    if (line.chainId !== this.#chainId) return `belongs to chain ${line.chainId}, the journal to ${this.#chainId}`;
    const due = first ? journalGenesis(line.chainId) : this.#previous;
    return line.previous === due ? undefined : 'does not link to what stands before it';
  }

  /** §6.2: OPENED first, CLOSED last, and between them the stages of each attempt. */
  #orderFault(line: JournalLine): string | undefined {
    const { event, facts, receiptId } = line;
    if (this.#closed) return `${event} after CLOSED`;
    if ((event === 'OPENED') !== (this.#lines === 0))
      return event === 'OPENED' ? 'OPENED again' : `${event} before OPENED`;
    if (event !== 'OPENED' && event !== 'CLOSED') return this.#attempts.take(line, this.#lines + 1);
    if (receiptId !== undefined) return `${event} with a receiptId`;
    if (event === 'CLOSED') this.#closed = true;
    else if (typeof facts.taskId === 'string') this.#taskId = facts.taskId;
    else return 'OPENED without facts.taskId';
    return undefined;
  }
}

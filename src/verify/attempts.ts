import type { JournalEventName, JournalLine } from '../contract/index.ts';

/** docs/format.md §6.2: what may follow on an event of the same attempt. */
const NEXT: Readonly<Record<AttemptEvent, readonly AttemptEvent[]>> = {
  REQUESTED: ['BOUND', 'REFUSED', 'START_FAILED', 'UNKNOWN_TERMINATION'],
  BOUND: ['STARTED', 'REFUSED', 'START_FAILED', 'UNKNOWN_TERMINATION'],
  STARTED: ['TIMEOUT_TERM', 'TERMINATED', 'UNKNOWN_TERMINATION'],
  TIMEOUT_TERM: ['TIMEOUT_KILL', 'TERMINATED', 'UNKNOWN_TERMINATION'],
  TIMEOUT_KILL: ['TERMINATED', 'UNKNOWN_TERMINATION'],
  TERMINATED: ['SEALED', 'UNKNOWN_TERMINATION'],
  REFUSED: ['SEALED', 'UNKNOWN_TERMINATION'],
  START_FAILED: ['SEALED', 'UNKNOWN_TERMINATION'],
  // A recovery that was itself cut off is begun again.
  UNKNOWN_TERMINATION: ['SEALED', 'UNKNOWN_TERMINATION'],
  SEALED: [],
};

/** The first stage that is missing when the journal ends after an event. */
const MISSING_AFTER: Readonly<Record<Exclude<AttemptEvent, 'SEALED'>, string>> = {
  REQUESTED: 'BOUND',
  BOUND: 'STARTED',
  STARTED: 'TERMINATED',
  TIMEOUT_TERM: 'TERMINATED',
  TIMEOUT_KILL: 'TERMINATED',
  TERMINATED: 'SEALED',
  REFUSED: 'SEALED',
  START_FAILED: 'SEALED',
  UNKNOWN_TERMINATION: 'SEALED',
};

const WITH_TERMINATION: readonly JournalEventName[] = ['TERMINATED', 'REFUSED', 'START_FAILED', 'UNKNOWN_TERMINATION'];

type AttemptEvent = Exclude<JournalEventName, 'OPENED' | 'CLOSED'>;

/** One attempt as the journal tells it. */
export interface Attempt {
  readonly receiptId: string;
  /** Number of the line that requested it, from 1. */
  readonly line: number;
  stage: AttemptEvent;
  started: boolean;
  timedOut: boolean;
  /** As the last line that ended the attempt has it. */
  termination?: unknown;
  sealed?: { readonly receiptDigest: unknown; readonly chainSequence: unknown; readonly line: number };
}

/** The attempts of a journal, moved on line by line; they may interleave. */
export class Attempts {
  readonly #byReceipt = new Map<string, Attempt>();

  get(receiptId: string): Attempt | undefined {
    return this.#byReceipt.get(receiptId);
  }

  all(): Iterable<Attempt> {
    return this.#byReceipt.values();
  }

  /** Takes a line about an attempt; the reason when it cannot stand where it stands. */
  take(line: JournalLine, number: number): string | undefined {
    const event = line.event as AttemptEvent;
    const { receiptId, facts } = line;
    if (receiptId === undefined) return `${event} without receiptId`;
    let attempt = this.#byReceipt.get(receiptId);
    if (attempt === undefined) {
      if (event !== 'REQUESTED') return `${event} for ${receiptId}, which was never requested`;
      attempt = { receiptId, line: number, stage: event, started: false, timedOut: false };
      this.#byReceipt.set(receiptId, attempt);
      return undefined;
    }
    if (!NEXT[attempt.stage].includes(event)) return `${event} after ${attempt.stage}`;
    attempt.stage = event;
    attempt.started ||= event === 'STARTED';
    attempt.timedOut ||= event === 'TIMEOUT_TERM';
    if (WITH_TERMINATION.includes(event)) {
      if (typeof facts.termination !== 'object' || facts.termination === null)
        return `${event} without facts.termination`;
      attempt.termination = facts.termination;
    }
    if (event === 'SEALED')
      attempt.sealed = { receiptDigest: facts.receiptDigest, chainSequence: facts.chainSequence, line: number };
    return undefined;
  }
}

/** Undefined for an attempt that was sealed. */
export function missingStage(attempt: Attempt): string | undefined {
  return attempt.stage === 'SEALED' ? undefined : MISSING_AFTER[attempt.stage];
}

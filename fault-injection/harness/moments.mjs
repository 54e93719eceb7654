import { journalOf } from './artifact.mjs';
import { isAlive, spin } from './processes.mjs';

const LIMIT_MS = 20_000;

/** Spins until the journal has an event, without yielding; false when the executor ended before. */
export function spinUntil(event, { pid, store }) {
  let turns = 0;
  return spin(() => has(event, store) || (++turns % 50 === 0 && !isAlive(pid)), LIMIT_MS) && has(event, store);
}

export function has(event, store) {
  return journalOf(store).some((line) => line.event === event);
}

/** Does something over and over until the executor has ended. */
export function spinWhileRunning({ pid }, step) {
  let turns = 0;
  spin(() => {
    step(turns);
    return ++turns % 20 === 0 && !isAlive(pid);
  }, LIMIT_MS);
}

/**
 * The deterministic attack: strikes as soon as the journal says BOUND, which is after the digest and before the process.
 * A round in which the command was started meanwhile came too late and is done again.
 */
export async function strikeAtBound(subject, prepare, strike, attempts = 10) {
  let last;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const prepared = prepare(attempt);
    const started = subject.start(prepared.request);
    const reached = spinUntil('BOUND', started);
    // Asked before the strike: one that insists against a lease goes on into the time after the start.
    const early = reached && !has('STARTED', started.store);
    const struck = reached ? strike(prepared) : 'never bound';
    last = { ...prepared, ...started, struck, early, ...(await started.ended) };
    if (early) return last;
  }
  return last;
}

import { ReceiptsError, type Termination } from '../contract/index.ts';
import type { Exit, Running } from '../launch/index.ts';

export interface EndingOptions {
  /** Between TERM and KILL. */
  readonly killAfterMs: number;
  /** Time that a cancelling platform leaves us in all; undefined where nobody kills us. */
  readonly cancelMs: number | undefined;
  readonly onTimeoutSignal: (event: 'TIMEOUT_TERM' | 'TIMEOUT_KILL', monotonicNs: bigint) => void;
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
type Forwarded = (typeof FORWARDED)[number];

/**
 * Watches over the end of a command: its timeout, and the signals that reach us in its stead. It stands before the command
 * does: a signal that comes while it is being started is passed on as soon as there is somebody to pass it to.
 */
export class Ending {
  readonly #options: EndingOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #listeners = new Map<Forwarded, () => void>();
  readonly #early: Forwarded[] = [];
  #running: Running | undefined;
  #limitMs: number | undefined;
  #termSentNs: bigint | undefined;
  #killSentNs: bigint | undefined;
  /** When everything has to be over, by `performance.now()`. */
  #cancelledUntil: number | undefined;

  constructor(options: EndingOptions) {
    this.#options = options;
    for (const name of FORWARDED) {
      const listener = () => this.#forward(name);
      this.#listeners.set(name, listener);
      process.on(name, listener);
    }
  }

  /** The command runs: its time begins, and ends with it. */
  attach(running: Running, timeoutMs: number | undefined): void {
    this.#running = running;
    this.#limitMs = timeoutMs;
    if (timeoutMs !== undefined) this.#after(timeoutMs, () => this.#terminate());
    void running.exit.then(() => this.#stopTimers());
    for (const name of this.#early.splice(0)) running.signal(name);
  }

  /** How long background processes may still hold the output: a cancelling platform waits for nobody. */
  graceMs(usual: number): number {
    if (this.#cancelledUntil === undefined) return usual;
    return Math.max(0, Math.min(usual, this.#cancelledUntil - performance.now()));
  }

  /** Signals are ours again. */
  dispose(): void {
    this.#stopTimers();
    for (const [name, listener] of this.#listeners) process.off(name, listener);
  }

  termination(exit: Exit): Exclude<Termination, { kind: 'refused' | 'start-failed' | 'unknown' }> {
    const { exitCode, signal, coreDumped } = exit;
    if (this.#termSentNs !== undefined) {
      const limitNs = (BigInt(this.#limitMs ?? 0) * 1_000_000n).toString();
      const killSentNs = this.#killSentNs?.toString();
      const timeout = {
        limitNs,
        termSentNs: this.#termSentNs.toString(),
        ...(killSentNs !== undefined && { killSentNs }),
      };
      return { kind: 'timed-out', exitCode, signal, coreDumped, timeout };
    }
    if (exitCode !== null) return { kind: 'exited', exitCode, signal: null };
    if (signal !== null) return { kind: 'signaled', exitCode: null, signal, coreDumped };
    throw new ReceiptsError('INTERNAL', 'the launcher reported an end that is neither an exit code nor a signal');
  }

  #after(milliseconds: number, action: () => void): void {
    this.#timers.push(setTimeout(action, milliseconds));
  }

  #stopTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #terminate(): void {
    this.#running?.signal('SIGTERM');
    this.#running?.signal('SIGCONT');
    this.#termSentNs = process.hrtime.bigint();
    this.#options.onTimeoutSignal('TIMEOUT_TERM', this.#termSentNs);
    this.#after(this.#options.killAfterMs, () => {
      this.#running?.signal('SIGKILL');
      this.#killSentNs = process.hrtime.bigint();
      this.#options.onTimeoutSignal('TIMEOUT_KILL', this.#killSentNs);
    });
  }

  #forward(name: Forwarded): void {
    if (this.#running === undefined) this.#early.push(name);
    else this.#running.signal(name);
    const { cancelMs } = this.#options;
    if (cancelMs === undefined || this.#cancelledUntil !== undefined) return;
    this.#cancelledUntil = performance.now() + cancelMs;
    this.#after(cancelMs, () => this.#running?.signal('SIGKILL'));
  }
}

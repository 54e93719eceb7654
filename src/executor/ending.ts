import { ReceiptsError, type Termination } from '../contract/index.ts';
import type { Exit, Running } from '../launch/index.ts';

export interface EndingOptions {
  readonly running: Running;
  readonly timeoutMs: number | undefined;
  /** Between TERM and KILL. */
  readonly killAfterMs: number;
  /** Time that a cancelling platform leaves us in all; undefined where nobody kills us. */
  readonly cancelMs: number | undefined;
  readonly onTimeoutSignal: (event: 'TIMEOUT_TERM' | 'TIMEOUT_KILL', monotonicNs: bigint) => void;
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Watches over the end of a command: its timeout, and the signals that reach us in its stead. */
export class Ending {
  readonly #options: EndingOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #listeners = new Map<(typeof FORWARDED)[number], () => void>();
  #termSentNs: bigint | undefined;
  #killSentNs: bigint | undefined;
  #cancelled = false;

  constructor(options: EndingOptions) {
    this.#options = options;
    if (options.timeoutMs !== undefined) this.#after(options.timeoutMs, () => this.#terminate());
    for (const name of FORWARDED) {
      const listener = () => this.#forward(name);
      this.#listeners.set(name, listener);
      process.on(name, listener);
    }
  }

  /** The command itself has ended: no more timeouts. Signals are still held off while its receipt is sealed. */
  commandEnded(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  dispose(): void {
    this.commandEnded();
    for (const [name, listener] of this.#listeners) process.off(name, listener);
  }

  termination(exit: Exit): Exclude<Termination, { kind: 'refused' | 'start-failed' | 'unknown' }> {
    const { exitCode, signal, coreDumped } = exit;
    if (this.#termSentNs !== undefined) {
      const limitNs = (BigInt(this.#options.timeoutMs ?? 0) * 1_000_000n).toString();
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

  #terminate(): void {
    this.#options.running.signal('SIGTERM');
    this.#options.running.signal('SIGCONT');
    this.#termSentNs = process.hrtime.bigint();
    this.#options.onTimeoutSignal('TIMEOUT_TERM', this.#termSentNs);
    this.#after(this.#options.killAfterMs, () => {
      this.#options.running.signal('SIGKILL');
      this.#killSentNs = process.hrtime.bigint();
      this.#options.onTimeoutSignal('TIMEOUT_KILL', this.#killSentNs);
    });
  }

  #forward(name: (typeof FORWARDED)[number]): void {
    this.#options.running.signal(name);
    if (this.#cancelled || this.#options.cancelMs === undefined) return;
    this.#cancelled = true;
    this.#after(this.#options.cancelMs, () => this.#options.running.signal('SIGKILL'));
  }
}

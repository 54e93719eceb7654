import type { Exit, Running } from '../launch/index.ts';
import type { StreamName } from './chunks.ts';
import type { Captures } from './masks.ts';
import type { CapturedStream, Closing } from './stream.ts';

export interface PumpOptions {
  readonly running: Running;
  readonly captures: Captures;
  /** Time after the command's end in which its streams may still reach their end, in milliseconds; asked at its end. */
  readonly graceMs: () => number;
}

export interface PumpResult {
  readonly exit: Exit;
  readonly streams: Readonly<Record<StreamName, CapturedStream>>;
}

/** Reads both streams to their end. After the command's end a background process that holds a pipe cannot hang us. */
export class Pump {
  readonly #options: PumpOptions;
  readonly #closings: Record<StreamName, Closing | undefined> = { stdout: undefined, stderr: undefined };
  readonly #ended: Promise<void>;
  #markEnded: () => void = () => {};

  constructor(options: PumpOptions) {
    this.#options = options;
    this.#ended = new Promise((resolve) => {
      this.#markEnded = resolve;
    });
    this.#attach('stdout');
    this.#attach('stderr');
  }

  /** The console takes bytes again. */
  resume(stream: StreamName): void {
    this.#options.running[stream].resume();
  }

  /** Nobody reads our console any more: the command gets SIGPIPE, as it would without us. */
  consumerClosed(stream: StreamName): void {
    if (this.#closings[stream] !== undefined) return;
    this.#options.running[stream].close();
    this.#close(stream, 'consumer-closed');
  }

  async run(): Promise<PumpResult> {
    const exit = await this.#options.running.exit;
    await this.#grace();
    return { exit, streams: { stdout: this.#finish('stdout'), stderr: this.#finish('stderr') } };
  }

  #attach(stream: StreamName): void {
    const capture = this.#options.captures[stream];
    this.#options.running[stream].start({
      data: (bytes) => capture.push(bytes),
      end: (how) => this.#close(stream, how),
    });
  }

  #close(stream: StreamName, how: Closing): void {
    this.#closings[stream] ??= how;
    if (this.#closings.stdout !== undefined && this.#closings.stderr !== undefined) this.#markEnded();
  }

  async #grace(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.graceMs());
    });
    await Promise.race([this.#ended, expired]);
    clearTimeout(timer);
  }

  #finish(stream: StreamName): CapturedStream {
    const { running, captures } = this.#options;
    const closing = this.#closings[stream];
    if (closing !== undefined) return captures[stream].finish(closing);
    const holders = running.holders(stream);
    if (running[stream].drainAndClose() === 'eof') return captures[stream].finish('eof');
    return captures[stream].finish('grace-expired', holders);
  }
}

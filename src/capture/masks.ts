import type { StreamName } from './chunks.ts';
import { CommandScanner } from './command-scanner.ts';
import { MaskRelay } from './mask-relay.ts';
import type { CapturedStream, Closing, StreamCapture } from './stream.ts';
import { WorkflowCommands } from './workflow-commands.ts';

export type Captures = Readonly<Record<StreamName, Pick<StreamCapture, 'push' | 'finish'>>>;

export interface MaskOptions {
  /** The console as the runner reads it; false asks to pause. */
  readonly write: Readonly<Record<StreamName, (bytes: Uint8Array) => boolean>>;
  /** Makes the value a secret of this attempt's redactor. */
  readonly register: (value: string) => void;
}

/**
 * `::add-mask::` of one command. Threat: the value is a secret that is printed in order to be hidden. So the line is taken
 * out before the redactor, its value becomes a literal first, and nothing of the line is stored, digested or shown; only
 * the raw HMAC has seen it. The runner gets the value once, as a command of ours.
 */
export class Masks {
  readonly #options: MaskOptions;
  readonly #commands = new WorkflowCommands();
  readonly #relays: Readonly<Record<StreamName, MaskRelay>>;
  readonly #known = new Set<string>();

  constructor(options: MaskOptions) {
    this.#options = options;
    const shown = new WorkflowCommands();
    this.#relays = {
      stdout: new MaskRelay(options.write.stdout, shown),
      stderr: new MaskRelay(options.write.stderr, shown),
    };
  }

  /** Shows redacted bytes of a stream. */
  show(stream: StreamName, bytes: Uint8Array): boolean {
    return this.#relays[stream].show(bytes);
  }

  /** Stands before the captures, which then never see a line that masks. */
  before(captures: Readonly<Record<StreamName, StreamCapture>>): Captures {
    const gate = (stream: StreamName): MaskGate =>
      new MaskGate(captures[stream], this.#relays[stream], this.#commands, (value) => {
        if (value === '' || this.#known.has(value)) return;
        this.#known.add(value);
        this.#options.register(value);
        captures.stdout.noteMask();
        captures.stderr.noteMask();
        this.#relays[stream].hand(value);
      });
    return { stdout: gate('stdout'), stderr: gate('stderr') };
  }
}

class MaskGate {
  readonly #capture: StreamCapture;
  readonly #relay: MaskRelay;
  readonly #scanner: CommandScanner;
  readonly #register: (value: string) => void;

  constructor(capture: StreamCapture, relay: MaskRelay, commands: WorkflowCommands, register: (value: string) => void) {
    this.#capture = capture;
    this.#relay = relay;
    this.#scanner = new CommandScanner(commands);
    this.#register = register;
  }

  push(bytes: Uint8Array): boolean {
    return this.#take(this.#scanner.push(bytes));
  }

  finish(closed: Closing, holders: ReadonlyArray<{ pid: number; comm: string }> = []): CapturedStream {
    this.#take(this.#scanner.end());
    const captured = this.#capture.finish(closed, holders);
    this.#relay.end();
    return captured;
  }

  #take(pieces: ReturnType<CommandScanner['push']>): boolean {
    let proceed = true;
    for (const piece of pieces) {
      if (piece.kind === 'text') proceed = this.#capture.push(piece.bytes) && proceed;
      else {
        this.#registerOrFail(piece.value);
        this.#capture.withhold(piece.bytes, piece.value === '' ? 0 : 1);
      }
    }
    return proceed;
  }

  /** A value that cannot be masked must not be shown or stored either. */
  #registerOrFail(value: string): void {
    try {
      this.#register(value);
    } catch (error) {
      this.#capture.fail(error);
    }
  }
}

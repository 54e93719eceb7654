import { CR, LF } from './command-candidates.ts';
import { CommandScanner, type Piece } from './command-scanner.ts';
import { maskCommand, type WorkflowCommands } from './workflow-commands.ts';

/**
 * Hands masks to the runner in between the redacted output that it reads. The runner takes a command only at the start of
 * a line and outside a stopped section; anywhere else it would print the value. Both are known from the very bytes that
 * were shown, which run behind the raw ones: a mask waits for the first place that is right.
 */
export class MaskRelay {
  readonly #write: (bytes: Uint8Array) => boolean;
  readonly #shown: WorkflowCommands;
  readonly #scanner: CommandScanner;
  #waiting: string[] = [];
  #atLineStart = true;

  constructor(write: (bytes: Uint8Array) => boolean, shown: WorkflowCommands) {
    this.#write = write;
    this.#shown = shown;
    this.#scanner = new CommandScanner(shown);
  }

  hand(value: string): void {
    this.#waiting.push(maskCommand(value));
    this.#flush();
  }

  show(bytes: Uint8Array): boolean {
    return this.#pass(this.#scanner.push(bytes));
  }

  /** After the last byte: what waits still reaches the runner, on a line of its own. */
  end(): void {
    this.#pass(this.#scanner.end());
    if (this.#waiting.length === 0 || this.#shown.stopped) return;
    if (!this.#atLineStart) this.#put(Buffer.from('\n'));
    this.#flush();
  }

  /** A line that redaction turned into a mask would make the runner hide the replacement text: it is left out. */
  #pass(pieces: Iterable<Piece>): boolean {
    let proceed = true;
    for (const piece of pieces) {
      if (piece.kind === 'mask') continue;
      const cut = this.#waiting.length === 0 ? 0 : lastLineStart(piece.bytes);
      for (const part of [piece.bytes.subarray(0, cut), piece.bytes.subarray(cut)]) {
        if (part.length === 0) continue;
        proceed = this.#put(part) && proceed;
        this.#flush();
      }
    }
    return proceed;
  }

  #flush(): void {
    if (this.#waiting.length === 0 || !this.#atLineStart || this.#shown.stopped) return;
    const commands = this.#waiting.join('');
    this.#waiting = [];
    this.#put(Buffer.from(commands, 'utf8'));
  }

  #put(bytes: Uint8Array): boolean {
    this.#atLineStart = isLineEnd(bytes[bytes.length - 1]);
    return this.#write(bytes);
  }
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

function lastLineStart(bytes: Uint8Array): number {
  let index = bytes.length;
  while (index > 0 && !isLineEnd(bytes[index - 1])) index--;
  return index;
}

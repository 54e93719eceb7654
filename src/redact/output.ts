import type { RedactedChunk } from './types.ts';
import type { Window } from './window.ts';

/** Collects one chunk. Raw bytes are not copied before it is known that there is more than one piece. */
export class Output {
  length = 0;
  readonly #window: Window;
  readonly #pieces: Uint8Array[] = [];
  readonly #replacements: [number, number][] = [];

  constructor(window: Window) {
    this.#window = window;
  }

  copy(from: number, to: number): void {
    this.#append(this.#window.slice(from, to));
  }

  copyReplacement(from: number, to: number): void {
    this.replace(this.#window.slice(from, to));
  }

  replace(text: Uint8Array): void {
    this.#replacements.push([this.length, this.length + text.length]);
    this.#append(text);
  }

  finish(): RedactedChunk {
    const [only] = this.#pieces;
    const isRaw = this.#pieces.length === 1 && this.#replacements.length === 0 && only !== undefined;
    const bytes = isRaw ? only : Buffer.concat(this.#pieces, this.length);
    return { bytes, replacements: this.#replacements };
  }

  #append(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.length += bytes.length;
  }
}

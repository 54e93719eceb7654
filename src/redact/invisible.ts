const NUL = 0x00;
const ESCAPE = 0x1b;

/** Finds the bytes that a terminal does not show as such, ESC and NUL, without searching any stretch twice. */
export class InvisibleBytes {
  readonly #bytes: Uint8Array;
  #escapeAt = -1;
  #nulAt = -1;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Index of the first one from `index` on, which never decreases from call to call; the length if there is none. */
  from(index: number): number {
    if (this.#escapeAt < index) this.#escapeAt = this.#search(ESCAPE, index);
    if (this.#nulAt < index) this.#nulAt = this.#search(NUL, index);
    return Math.min(this.#escapeAt, this.#nulAt);
  }

  #search(byte: number, index: number): number {
    const found = this.#bytes.indexOf(byte, index);
    return found < 0 ? this.#bytes.length : found;
  }
}

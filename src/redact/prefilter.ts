/** Bytes of an anchor that the prefilter looks at; no anchor and no literal is shorter. */
export const PREFIX_BYTES = 3;

/**
 * Finds where an anchor or a literal may begin. A SIMD implementation can take this one's place: candidates may be
 * too many, never too few, and ascend.
 */
export interface Prefilter {
  /**
   * Writes every candidate position `p` with `from <= p` and `p + PREFIX_BYTES <= to` to `out`, which has room for
   * `to - from` entries, and returns how many there are.
   */
  scan(bytes: Uint8Array, from: number, to: number, out: Int32Array): number;
  /** The same prefilter with further beginnings. */
  extended(beginnings: readonly Uint8Array[]): Prefilter;
}

const CLASS_BITS = 6;
const INDEX_MASK = (1 << (CLASS_BITS * PREFIX_BYTES)) - 1;
const OTHER = 63;

/** Letters without case, digits and common punctuation have a class of their own; 64 classes index 32 KiB of bits. */
const CLASSES = (() => {
  const classes = new Uint8Array(256).fill(OTHER);
  const named = 'abcdefghijklmnopqrstuvwxyz0123456789-_:/.[ =+%\\"{$@#&<\'(';
  for (let i = 0; i < named.length; i++) {
    classes[named.charCodeAt(i)] = i;
    classes[named.toUpperCase().charCodeAt(i)] = i;
  }
  return classes;
})();

class WindowTable implements Prefilter {
  readonly #bits: Uint32Array;

  constructor(bits: Uint32Array, beginnings: readonly Uint8Array[]) {
    this.#bits = bits;
    for (const bytes of beginnings) {
      let index = 0;
      for (let i = 0; i < PREFIX_BYTES; i++) index = (index << CLASS_BITS) | (CLASSES[bytes[i] as number] as number);
      bits[index >>> 5] = (bits[index >>> 5] as number) | (1 << (index & 31));
    }
  }

  scan(bytes: Uint8Array, from: number, to: number, out: Int32Array): number {
    if (to - from < PREFIX_BYTES) return 0;
    const bits = this.#bits;
    let count = 0;
    let index =
      ((CLASSES[bytes[from] as number] as number) << CLASS_BITS) | (CLASSES[bytes[from + 1] as number] as number);
    for (let i = from + 2; i < to; i++) {
      index = ((index << CLASS_BITS) | (CLASSES[bytes[i] as number] as number)) & INDEX_MASK;
      if (((bits[index >>> 5] as number) >>> (index & 31)) & 1) out[count++] = i - 2;
    }
    return count;
  }

  extended(beginnings: readonly Uint8Array[]): Prefilter {
    return new WindowTable(this.#bits.slice(), beginnings);
  }
}

export function createPrefilter(beginnings: readonly Uint8Array[]): Prefilter {
  return new WindowTable(new Uint32Array((INDEX_MASK + 1) / 32), beginnings);
}

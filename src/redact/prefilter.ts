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

/** In place of a fourth byte, for anchors that have none. */
const ANY = 64;
const HASH_BITS = 16;

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

/** Of three bytes each combination has a bit; of four, which are asked about only then, a hash has. */
class WindowTable implements Prefilter {
  readonly #threes: Uint32Array;
  readonly #fours: Uint32Array;

  constructor(threes: Uint32Array, fours: Uint32Array, beginnings: readonly Uint8Array[]) {
    this.#threes = threes;
    this.#fours = fours;
    for (const bytes of beginnings) {
      let three = 0;
      for (let i = 0; i < PREFIX_BYTES; i++) three = (three << CLASS_BITS) | (CLASSES[bytes[i] as number] as number);
      setBit(threes, three);
      const fourth = bytes[PREFIX_BYTES];
      setBit(fours, hashOfFour(three, fourth === undefined ? ANY : (CLASSES[fourth] as number)));
    }
  }

  scan(bytes: Uint8Array, from: number, to: number, out: Int32Array): number {
    if (to - from < PREFIX_BYTES) return 0;
    const threes = this.#threes;
    let count = 0;
    let three =
      ((CLASSES[bytes[from] as number] as number) << CLASS_BITS) | (CLASSES[bytes[from + 1] as number] as number);
    for (let i = from + 2; i < to; i++) {
      three = ((three << CLASS_BITS) | (CLASSES[bytes[i] as number] as number)) & INDEX_MASK;
      if (((threes[three >>> 5] as number) >>> (three & 31)) & 1 && this.#mayGoOn(three, bytes, i + 1)) {
        out[count++] = i - 2;
      }
    }
    return count;
  }

  extended(beginnings: readonly Uint8Array[]): Prefilter {
    return new WindowTable(this.#threes.slice(), this.#fours.slice(), beginnings);
  }

  #mayGoOn(three: number, bytes: Uint8Array, next: number): boolean {
    if (next >= bytes.length) return true;
    const fourth = CLASSES[bytes[next] as number] as number;
    return hasBit(this.#fours, hashOfFour(three, fourth)) || hasBit(this.#fours, hashOfFour(three, ANY));
  }
}

function hashOfFour(three: number, fourth: number): number {
  return Math.imul((three << (CLASS_BITS + 1)) | fourth, -1640531535) >>> (32 - HASH_BITS);
}

function hasBit(bits: Uint32Array, index: number): boolean {
  return (((bits[index >>> 5] as number) >>> (index & 31)) & 1) === 1;
}

function setBit(bits: Uint32Array, index: number): void {
  bits[index >>> 5] = (bits[index >>> 5] as number) | (1 << (index & 31));
}

export function createPrefilter(beginnings: readonly Uint8Array[]): Prefilter {
  return new WindowTable(new Uint32Array((INDEX_MASK + 1) / 32), new Uint32Array((1 << HASH_BITS) / 32), beginnings);
}

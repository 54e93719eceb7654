/** Some bytes of a stream; `base` is the absolute position of the first. */
export interface Excerpt {
  readonly bytes: Buffer;
  readonly base: number;
}

/** The bytes of a stream that are still needed, at their absolute positions. Buffers are never written to twice. */
export class Window implements Excerpt {
  bytes: Buffer = Buffer.alloc(0);
  /** Absolute position of the first byte. */
  base = 0;

  get end(): number {
    return this.base + this.bytes.length;
  }

  /** Drops what lies before `keepFrom` and appends `chunk`. */
  append(chunk: Uint8Array, keepFrom: number): void {
    const from = Math.max(0, keepFrom - this.base);
    const kept = this.bytes.length - from;
    const next = Buffer.allocUnsafe(kept + chunk.length);
    next.set(this.bytes.subarray(from), 0);
    next.set(chunk, kept);
    this.bytes = next;
    this.base += from;
  }

  /** What lies before `end`, without a copy. */
  upTo(end: number): Excerpt {
    return { bytes: end === this.end ? this.bytes : this.bytes.subarray(0, end - this.base), base: this.base };
  }

  slice(from: number, to: number): Buffer {
    return this.bytes.subarray(from - this.base, to - this.base);
  }
}

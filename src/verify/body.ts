import { createHash } from 'node:crypto';
import type { BodyFile } from './directory.ts';
import { closeFile, type OpenFile, openRegular, readInto } from './evidence-file.ts';

const BLOCK = 64 * 1024;

/**
 * The retained bytes of one stream, head then tail, hashed once from front to back. As long as the bytes are those of the
 * redacted stream's beginning, the digest so far is the prefix digest that the chunks state.
 */
export class RetainedBody {
  readonly #files: OpenFile[] = [];
  readonly #hash = createHash('sha256');
  #buffer: Buffer | undefined;
  #current = 0;
  #hashed = 0;

  /** Opens the files. Throws INPUT_UNREADABLE. The caller closes. */
  constructor(files: readonly BodyFile[]) {
    try {
      for (const file of files) this.#files.push(openRegular(file.path));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Sizes of the files in bytes, in their order. */
  get sizes(): number[] {
    return this.#files.map((file) => file.size);
  }

  /** Bytes hashed so far. */
  get position(): number {
    return this.#hashed;
  }

  /** Hashes up to this position of the retained bytes; less where the files end earlier. */
  hashTo(position: number): void {
    while (this.#hashed < position) {
      this.#buffer ??= Buffer.allocUnsafe(Math.min(position, BLOCK));
      const block = this.#buffer.subarray(0, position - this.#hashed);
      const count = this.#read(block);
      if (count === 0) return;
      this.#hash.update(count === block.length ? block : block.subarray(0, count));
      this.#hashed += count;
    }
  }

  /** Of the bytes hashed so far, in hex. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  close(): void {
    for (const file of this.#files.splice(0)) closeFile(file);
  }

  /** From the file in turn, or the next one when that is at its end. */
  #read(into: Buffer): number {
    for (let file = this.#files[this.#current]; file !== undefined; file = this.#files[++this.#current]) {
      const count = readInto(file, into);
      if (count > 0) return count;
    }
    return 0;
  }
}

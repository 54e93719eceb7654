import { createHash } from 'node:crypto';
import type { BodyFile } from './directory.ts';
import { closeFile, type OpenFile, openRegular, readInto } from './evidence-file.ts';

const BLOCK = 64 * 1024;

/**
 * The retained bytes of one stream, head then tail, hashed once from front to back. As long as the bytes are those of the
 * redacted stream's beginning, the digest so far is the prefix digest that the chunks state.
 */
export class RetainedBody {
  readonly #files: readonly BodyFile[];
  readonly #hash = createHash('sha256');
  readonly #buffer: Buffer;
  #open: OpenFile | undefined;
  #next = 0;
  #hashed = 0;

  constructor(files: readonly BodyFile[]) {
    this.#files = files;
    const total = files.reduce((sum, file) => sum + file.length, 0);
    this.#buffer = Buffer.allocUnsafe(Math.min(total, BLOCK));
  }

  /** Bytes hashed so far. */
  get position(): number {
    return this.#hashed;
  }

  /** Hashes up to this position of the retained bytes; less where the files end earlier. */
  hashTo(position: number): void {
    while (this.#hashed < position) {
      const wanted = Math.min(this.#buffer.length, position - this.#hashed);
      const count = this.#read(this.#buffer.subarray(0, wanted));
      if (count === 0) return;
      this.#hash.update(this.#buffer.subarray(0, count));
      this.#hashed += count;
    }
  }

  /** Of the bytes hashed so far, in hex. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  close(): void {
    if (this.#open) closeFile(this.#open);
    this.#open = undefined;
  }

  /** From the file in turn, or the next one when that is at its end. */
  #read(into: Buffer): number {
    for (;;) {
      if (this.#open) {
        const count = readInto(this.#open, into);
        if (count > 0) return count;
        this.close();
      }
      const file = this.#files[this.#next++];
      if (file === undefined) return 0;
      this.#open = openRegular(file.path);
    }
  }
}

/** The first file that does not have the length its receipt gives. Throws INPUT_UNREADABLE. */
export function wrongLength(
  files: readonly BodyFile[],
): { readonly file: BodyFile; readonly size: number } | undefined {
  for (const file of files) {
    const open = openRegular(file.path);
    closeFile(open);
    if (open.size !== file.length) return { file, size: open.size };
  }
  return undefined;
}

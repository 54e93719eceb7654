import { closeSync, constants, fsyncSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { orStoreError, writeAll } from './files.ts';

const BUFFER_BYTES = 64 * 1024;

/**
 * `chunks.jsonl` while it grows: buffered, in the working directory, moved to its place when the attempt is sealed. A
 * failure to write is kept and reported then, since the stream that produces the lines has to go on.
 */
export class ChunkFile {
  readonly #path: string;
  readonly #fd: number;
  #pending: string[] = [];
  #pendingBytes = 0;
  #failure: unknown;

  constructor(path: string) {
    this.#path = path;
    this.#fd = orStoreError(path, () =>
      openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600),
    );
  }

  append(line: string): void {
    this.#pending.push(line);
    this.#pendingBytes += line.length + 1;
    if (this.#pendingBytes >= BUFFER_BYTES) this.#flush();
  }

  /** Makes the file durable under its name; throws what went wrong on the way. */
  finish(destination: string): void {
    this.#flush();
    if (this.#failure !== undefined) throw this.#failure;
    orStoreError(this.#path, () => {
      fsyncSync(this.#fd);
      renameSync(this.#path, destination);
    });
    closeSync(this.#fd);
  }

  discard(): void {
    try {
      unlinkSync(this.#path);
    } catch {
      // Already moved or gone: nothing is left to discard.
    }
  }

  #flush(): void {
    if (this.#pending.length === 0 || this.#failure !== undefined) return;
    const bytes = Buffer.from(`${this.#pending.join('\n')}\n`, 'utf8');
    this.#pending = [];
    this.#pendingBytes = 0;
    try {
      orStoreError(this.#path, () => writeAll(this.#fd, bytes));
    } catch (error) {
      this.#failure = error;
    }
  }
}

import { closeSync, constants, fsyncSync, openSync, renameSync } from 'node:fs';
import { orStoreError, removeIfThere, writeAll } from './files.ts';

const BUFFER_BYTES = 64 * 1024;

/**
 * `chunks.jsonl` while it grows: buffered, in the working directory, moved to its place when the attempt is sealed. A
 * failure to write is kept and reported then, since the stream that produces the lines has to go on.
 */
export class ChunkFile {
  readonly #path: string;
  #fd: number | undefined;
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
      if (this.#fd !== undefined) fsyncSync(this.#fd);
      renameSync(this.#path, destination);
    });
    this.discard();
  }

  /** Lets go of the file; what was not finished is gone. Safe to call twice. */
  discard(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    removeIfThere(this.#path);
  }

  #flush(): void {
    const fd = this.#fd;
    if (this.#pending.length === 0 || this.#failure !== undefined || fd === undefined) return;
    const bytes = Buffer.from(`${this.#pending.join('\n')}\n`, 'utf8');
    this.#pending = [];
    this.#pendingBytes = 0;
    try {
      orStoreError(this.#path, () => writeAll(fd, bytes));
    } catch (error) {
      this.#failure = error;
    }
  }
}

import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';

const CHUNK_BYTES = 1024 * 1024;
/** A turn of the event loop is given up after so many chunks, so that streams of running commands go on. */
const CHUNKS_PER_TURN = 16;
/** Shared by all digests: a chunk is used up before anything else can run. */
let chunk: Buffer | undefined;

export interface FileDigest {
  /** Lower-case hex. */
  readonly sha256: string;
  readonly size: number;
}

/** Of everything behind the descriptor, from its start, whatever its offset; `each` sees every chunk. */
export async function digestFd(fd: number, each?: (bytes: Uint8Array) => void): Promise<FileDigest> {
  const steps = digestSteps(fd, each);
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return step.value;
    if (count % CHUNKS_PER_TURN === 0) await new Promise(setImmediate);
  }
}

/** The same without giving way: for a look again right before the spawn. */
export function digestFdNow(fd: number): FileDigest {
  const steps = digestSteps(fd);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function* digestSteps(fd: number, each?: (bytes: Uint8Array) => void): Generator<void, FileDigest> {
  chunk ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const hash = createHash('sha256');
  let size = 0;
  for (;;) {
    const count = readSync(fd, chunk, 0, CHUNK_BYTES, size);
    if (count === 0) return { sha256: hash.digest('hex'), size };
    const bytes = chunk.subarray(0, count);
    hash.update(bytes);
    each?.(bytes);
    size += count;
    yield;
  }
}

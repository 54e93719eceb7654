import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type ErrorCode, errnoOf, ReceiptsError } from '../contract/index.ts';

/**
 * Reads a file that somebody else may have put there: a pipe or device would hold us for ever, an endless one fill our
 * memory. Throws the given code, with `where` and `next`.
 */
export function readRegularFile(path: string, options: { limit: number; code: ErrorCode; next: string }): Buffer {
  const refuse = (why: string, cause?: unknown) =>
    new ReceiptsError(options.code, `cannot read the file: ${why}`, { where: path, next: options.next, cause });
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw refuse(errnoOf(error) ?? 'unknown error', error);
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw refuse('it is no regular file');
    if (stats.size > options.limit) throw refuse(`it has ${stats.size} bytes, more than ${options.limit}`);
    return readUpTo(fd, options.limit);
  } catch (error) {
    throw error instanceof ReceiptsError ? error : refuse(errnoOf(error) ?? 'unknown error', error);
  } finally {
    closeSync(fd);
  }
}

function readUpTo(fd: number, limit: number): Buffer {
  const parts: Buffer[] = [];
  for (let total = 0; total < limit; ) {
    const part = Buffer.alloc(Math.min(64 * 1024, limit - total));
    const count = readSync(fd, part);
    if (count === 0) break;
    parts.push(part.subarray(0, count));
    total += count;
  }
  return Buffer.concat(parts);
}

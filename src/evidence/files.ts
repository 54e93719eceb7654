import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf, ReceiptsError } from '../contract/index.ts';

/*
 * Durability. A new file counts once these have returned, in this order:
 *   open(O_CREAT|O_EXCL|O_NOFOLLOW, 0600), write, fsync(file), close, fsync(directory)
 * A file that must never be seen in part, new or replaced, is written like that under another name in a working directory
 * of the same file system first, then: rename, fsync(directory).
 */

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Creates a directory and its parents, 0700; one that exists is left as it is. */
export function makeDirectory(path: string): void {
  orStoreError(path, () => makeOneByOne(path));
}

/** Not by `recursive`: on file systems whose directories come and go, `/proc` above all, Node then tries for ever. */
function makeOneByOne(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) makeOneByOne(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

/** Writes a new file whole; the caller fsyncs the directory when all files are there. */
export function writeNewFile(path: string, bytes: Uint8Array): void {
  orStoreError(path, () => {
    const fd = openSync(path, CREATE, 0o600);
    try {
      writeAll(fd, bytes);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  });
}

/** Puts a file in its place in one step: readers see the old bytes or the new ones, and a crash leaves no part of it there. */
export function placeFile(path: string, bytes: Uint8Array, workDirectory: string = dirname(path)): void {
  const temporary = join(workDirectory, `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    writeNewFile(temporary, bytes);
    orStoreError(path, () => {
      renameSync(temporary, path);
      syncDirectory(dirname(path));
    });
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  }
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

/** Makes names in a directory durable; a no-op where directories cannot be opened (Windows). */
export function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** For working files: that one is not there, or cannot be removed, changes no evidence. */
export function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // See above.
  }
}

/** Runs a write to the store; a system error becomes STORE_UNWRITABLE with what to do. */
export function orStoreError<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (error instanceof ReceiptsError) throw error;
    const errno = errnoOf(error);
    throw new ReceiptsError('STORE_UNWRITABLE', `cannot write to the store${errno ? ` (${errno})` : ''}`, {
      where: path,
      next: adviceFor(errno),
      cause: error,
      ...(errno && { errno }),
    });
  }
}

function adviceFor(errno: string | undefined): string {
  if (errno === 'ENOSPC' || errno === 'EDQUOT') return 'Free some space or name another store with --store DIR.';
  if (errno === 'EACCES' || errno === 'EPERM' || errno === 'EROFS')
    return 'Name a store that you may write to with --store DIR.';
  if (errno === 'ENOTDIR' || errno === 'EEXIST')
    return 'A file stands where the store needs a directory: name another store with --store DIR.';
  return 'Name another store with --store DIR.';
}

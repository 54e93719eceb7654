import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { errnoOf, ReceiptsError } from '../contract/index.ts';

/*
 * Whoever can write the store chooses what stands behind a name: a link to a file elsewhere, a FIFO that never answers, a
 * device, a file without end. So no link is followed, opening never waits, nothing is read before the descriptor is seen to be
 * a regular file's, and no more is read than was there at the time of opening.
 */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const OPEN_FLAGS = constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const BLOCK = 64 * 1024;

export interface OpenFile {
  readonly path: string;
  readonly fd: number;
  readonly size: number;
}

/** Opens a regular file. Throws INPUT_UNREADABLE, with `errno` ENOENT when nothing is there. The caller closes. */
export function openRegular(path: string): OpenFile {
  // Where opening cannot refuse a link (Windows), it is looked at first.
  if (NO_FOLLOW === 0)
    refuseOther(
      path,
      orUnreadable(path, () => lstatSync(path)),
    );
  const fd = orUnreadable(path, () => openSync(path, OPEN_FLAGS));
  try {
    const stats = fstatSync(fd);
    refuseOther(path, stats);
    return { path, fd, size: stats.size };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

export function closeFile(file: OpenFile): void {
  closeSync(file.fd);
}

/** Fills the buffer as far as the file goes; the count of bytes read. */
export function readInto(file: OpenFile, buffer: Buffer): number {
  let filled = 0;
  while (filled < buffer.length) {
    const count = orUnreadable(file.path, () => readSync(file.fd, buffer, filled, buffer.length - filled, null));
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** The whole file. Throws INPUT_TOO_LARGE above the limit (bytes) without reading it. */
export function readWhole(path: string, limit: number): Buffer {
  const file = openRegular(path);
  try {
    if (file.size > limit) throw new ReceiptsError('INPUT_TOO_LARGE', `larger than ${limit} bytes`, { where: path });
    const buffer = Buffer.allocUnsafe(file.size);
    return buffer.subarray(0, readInto(file, buffer));
  } finally {
    closeFile(file);
  }
}

/** How a walk over lines ended: at the end, in a line without newline, in one that is too long, or by the taker's wish. */
type LinesEnd = 'whole' | 'torn' | 'too-long' | 'stopped';

/**
 * Hands each line, without its newline, to `take` until that returns false. The bytes are valid only during the call. Memory
 * stays within the longest line allowed and one block.
 */
export function readLines(
  path: string,
  longest: number,
  take: (line: Buffer, number: number) => boolean,
): { readonly lines: number; readonly end: LinesEnd } {
  const file = openRegular(path);
  try {
    return walkLines(file, longest, take);
  } finally {
    closeFile(file);
  }
}

function walkLines(file: OpenFile, longest: number, take: (line: Buffer, number: number) => boolean) {
  let buffer = Buffer.allocUnsafe(Math.min(file.size, BLOCK) + 1);
  let filled = 0;
  let lines = 0;
  let left = file.size;
  while (left > 0) {
    if (filled === buffer.length) buffer = grown(buffer);
    const count = readInto(file, buffer.subarray(filled, Math.min(buffer.length, filled + left)));
    if (count === 0) break;
    left -= count;
    const unread = buffer.subarray(0, filled + count);
    let start = 0;
    for (let end = unread.indexOf(0x0a, filled); end >= 0; end = unread.indexOf(0x0a, start)) {
      if (end - start > longest) return { lines, end: 'too-long' as const };
      lines++;
      if (!take(unread.subarray(start, end), lines)) return { lines, end: 'stopped' as const };
      start = end + 1;
    }
    filled = unread.length - start;
    if (filled > longest) return { lines, end: 'too-long' as const };
    buffer.copyWithin(0, start, unread.length);
  }
  return { lines, end: filled > 0 ? ('torn' as const) : ('whole' as const) };
}

function grown(buffer: Buffer): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafe(buffer.length * 2);
  buffer.copy(larger);
  return larger;
}

/** Nothing is there, as opposed to something that cannot be read. */
export function isMissing(error: unknown): boolean {
  return error instanceof ReceiptsError && error.errno === 'ENOENT';
}

export function kindOf(
  stats: Pick<Stats, 'isSymbolicLink' | 'isDirectory' | 'isFIFO' | 'isSocket' | 'isFile'>,
): string {
  if (stats.isFile()) return 'a file';
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a FIFO';
  return stats.isSocket() ? 'a socket' : 'a device';
}

function refuseOther(path: string, stats: Stats): void {
  if (!stats.isFile())
    throw new ReceiptsError('INPUT_UNREADABLE', `${kindOf(stats)}, not a regular file`, { where: path });
}

function orUnreadable<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const errno = errnoOf(error);
    throw new ReceiptsError('INPUT_UNREADABLE', reasonOf(errno), {
      where: path,
      cause: error,
      ...(errno !== undefined && { errno }),
    });
  }
}

function reasonOf(errno: string | undefined): string {
  if (errno === 'ENOENT') return 'is missing';
  if (errno === 'ELOOP') return 'a symbolic link, not a regular file';
  return errno === 'ENXIO' ? 'a socket, not a regular file' : `cannot be read (${errno ?? 'unknown reason'})`;
}

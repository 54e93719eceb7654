import { isUtf8 } from 'node:buffer';
import { readlinkSync } from 'node:fs';
import { errnoOf, ReceiptsError } from '../contract/index.ts';

/** What Node puts in the place of bytes that are no UTF-8. */
const REPLACED = '\uFFFD';

/**
 * Where the user stands. Throws CWD_NOT_FOUND when that directory is gone, CWD_UNREADABLE when its name cannot be held in a
 * string: Node would then name another directory.
 */
export function currentDirectory(): string {
  let directory: string;
  try {
    directory = process.cwd();
  } catch (error) {
    throw new ReceiptsError('CWD_NOT_FOUND', `the current directory cannot be read (${errnoOf(error) ?? 'unknown'})`, {
      next: 'Change to a directory that exists.',
      cause: error,
    });
  }
  if (directory.includes(REPLACED) && !isNamedInUtf8())
    throw new ReceiptsError('CWD_UNREADABLE', 'the name of the current directory is not valid UTF-8', {
      where: directory,
      next: 'Change to a directory whose path is valid UTF-8, or rename it.',
    });
  return directory;
}

function isNamedInUtf8(): boolean {
  if (process.platform !== 'linux') return true;
  return isUtf8(readlinkSync('/proc/self/cwd', { encoding: 'buffer' }));
}

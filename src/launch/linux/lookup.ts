import { accessSync, type BigIntStats, closeSync, constants, fstatSync, openSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { errnoOf } from '../../contract/index.ts';
import { type BindProblem, startFailed } from '../problem.ts';
import { O_PATH } from './abi.ts';
import type { BoundDirectory } from './cwd.ts';

/**
 * Threat: whoever can write in a directory of PATH, or swap a link on the way, makes the name mean another program
 * between our look and the kernel's. The name is therefore resolved here, once, as `execvp` would, and opened; what
 * runs is the object that this descriptor holds.
 */
export interface Found {
  /** The path as exec would have been given it; relative ones count from the bound directory. */
  readonly path: string;
  readonly absolutePath: string;
  /** Names the same for our own calls, whatever our working directory is. */
  readonly reachedAs: string;
  /** Where relative paths count from. */
  readonly directory: BoundDirectory;
  /** `O_PATH`: never carries a lease, so a child may inherit and execute it. */
  readonly fd: number;
  readonly stats: BigIntStats;
}

/** What `execvp` searches when the environment has no PATH (glibc and musl agree on these two). */
const DEFAULT_PATH = '/bin:/usr/bin';

export function findProgram(name: string, searchPath: string | undefined, directory: BoundDirectory): Found {
  if (name.includes('/')) return openProgram(name, directory);
  let denied: BindProblem | undefined;
  for (const entry of (searchPath ?? DEFAULT_PATH).split(':')) {
    const result = tryOpen(entry === '' ? name : `${entry}/${name}`, directory);
    if ('fd' in result) return result;
    if (result.code !== 'PROGRAM_NOT_FOUND') denied ??= result;
  }
  throw denied ?? notFound(name, 'ENOENT', 'Install it, or correct the name or PATH.');
}

/** No search: a name with a slash, or an interpreter as the kernel takes it from a shebang. */
export function openProgram(path: string, directory: BoundDirectory): Found {
  const result = tryOpen(path, directory);
  if ('fd' in result) return result;
  throw result;
}

function tryOpen(path: string, directory: BoundDirectory): Found | BindProblem {
  const reachedAs = isAbsolute(path) ? path : `/proc/self/fd/${directory.fd}/${path}`;
  let fd: number;
  try {
    fd = openSync(reachedAs, O_PATH);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    return errno === 'EACCES' ? notExecutable(path, errno) : notFound(path, errno);
  }
  const stats = fstatSync(fd, { bigint: true });
  const obstacle = obstacleOf(path, fd, stats);
  if (obstacle) {
    closeSync(fd);
    return obstacle;
  }
  const absolutePath = isAbsolute(path) ? path : join(directory.resolved, path);
  return { path, absolutePath, reachedAs, directory, fd, stats };
}

function obstacleOf(path: string, fd: number, stats: BigIntStats): BindProblem | undefined {
  if (stats.isDirectory()) {
    return startFailed('PROGRAM_IS_DIRECTORY', `${JSON.stringify(path)} is a directory.`, {
      where: '/executable',
      errno: 'EACCES',
    });
  }
  if (!stats.isFile()) return notExecutable(path, 'EACCES');
  try {
    accessSync(`/proc/self/fd/${fd}`, constants.X_OK);
    return undefined;
  } catch (error) {
    return notExecutable(path, errnoOf(error) ?? '');
  }
}

function notFound(name: string, errno: string, next?: string): BindProblem {
  const message = `The program ${JSON.stringify(name)} was not found.`;
  return startFailed('PROGRAM_NOT_FOUND', message, { where: '/executable', errno, ...(next ? { next } : {}) });
}

function notExecutable(path: string, errno: string): BindProblem {
  return startFailed('PROGRAM_NOT_EXECUTABLE', `${JSON.stringify(path)} may not be executed.`, {
    where: '/executable',
    errno,
    next: 'Give it execute permission (chmod +x), or name another program.',
  });
}

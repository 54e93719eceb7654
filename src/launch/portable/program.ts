import { createHash } from 'node:crypto';
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { type BindingAttempt, type BindingMethod, errnoOf, type ProgramFile } from '../../contract/index.ts';
import { type BindProblem, startFailed } from '../problem.ts';

/**
 * What can be said of a program where objects cannot be bound: which file the name meant a moment ago, and its digest.
 * Nothing here keeps the file from being another one when it is started; the receipt's UNBOUND_EXECUTABLE says so.
 */
const DEFAULT_PATH = '/bin:/usr/bin';
const CHUNK_BYTES = 1024 * 1024;

export function findProgramPath(name: string, environment: (name: string) => string | undefined, cwd: string): string {
  const suffixes = suffixesFor(environment('PATHEXT'));
  if (name.includes('/') || (process.platform === 'win32' && name.includes('\\'))) {
    return firstOf([isAbsolute(name) ? name : join(cwd, name)], suffixes, name);
  }
  const entries = (environment('PATH') ?? environment('Path') ?? DEFAULT_PATH).split(delimiter);
  return firstOf(
    entries.map((entry) => join(isAbsolute(entry) ? entry : join(cwd, entry), name)),
    suffixes,
    name,
  );
}

function suffixesFor(extensions: string | undefined): string[] {
  return process.platform === 'win32' ? ['', ...(extensions ?? '.COM;.EXE').split(';')] : [''];
}

/** The first that may be executed; else the first obstacle that is more than "not there". */
function firstOf(candidates: readonly string[], suffixes: readonly string[], name: string): string {
  let obstacle: BindProblem | undefined;
  for (const candidate of candidates) {
    for (const suffix of suffixes) {
      const found = obstacleAt(candidate + suffix);
      if (found === undefined) return candidate + suffix;
      if (found !== 'absent') obstacle ??= found;
    }
  }
  throw (
    obstacle ??
    startFailed('PROGRAM_NOT_FOUND', `The program ${JSON.stringify(name)} was not found.`, {
      where: '/executable',
      errno: 'ENOENT',
      next: 'Install it, or correct the name or PATH.',
    })
  );
}

function obstacleAt(path: string): BindProblem | 'absent' | undefined {
  const shown = JSON.stringify(path);
  const details = { where: '/executable', errno: 'EACCES' };
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return startFailed('PROGRAM_IS_DIRECTORY', `${shown} is a directory.`, details);
    accessSync(path, constants.X_OK);
    return stats.isFile() ? undefined : startFailed('PROGRAM_NOT_EXECUTABLE', `${shown} is no file.`, details);
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') return 'absent';
    return startFailed('PROGRAM_NOT_EXECUTABLE', `${shown} may not be executed.`, {
      ...details,
      next: 'Give it execute permission (chmod +x), or name another program.',
    });
  }
}

/** Facts that cannot be had (an execute-only file) are null. */
export function describeProgram(
  requested: string,
  path: string,
  order: readonly BindingMethod[],
  reason: string,
): ProgramFile {
  const attempts: BindingAttempt[] = order.map((method) =>
    method === 'none' ? { method, outcome: 'used' } : { method, outcome: 'passed-over', reason },
  );
  const binding = { method: 'none' as const, filesystem: null, attempts };
  const { dev, ino } = statSync(path, { bigint: true });
  const identity = { device: `${dev}`, inode: `${ino}` };
  const content = digestFile(path);
  return {
    requested,
    path,
    kind: content?.kind ?? null,
    sha256: content?.sha256 ?? null,
    size: content?.size ?? null,
    ...identity,
    binding,
  };
}

function digestFile(path: string): { sha256: string; size: number; kind: ProgramFile['kind'] } | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let kind: ProgramFile['kind'] = 'other';
    let size = 0;
    for (;;) {
      const count = readSync(fd, chunk, 0, CHUNK_BYTES, size);
      if (count === 0) break;
      if (size === 0) kind = kindOf(chunk.toString('latin1', 0, Math.min(count, 4)));
      hash.update(chunk.subarray(0, count));
      size += count;
    }
    return { sha256: hash.digest('hex'), size, kind };
  } finally {
    closeSync(fd);
  }
}

function kindOf(magic: string): ProgramFile['kind'] {
  if (magic === '\x7fELF') return 'elf';
  return magic.startsWith('#!') ? 'script' : 'other';
}

import { accessSync, closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { type Cwd, errnoOf } from '../../contract/index.ts';
import { type BindProblem, refused, startFailed } from '../problem.ts';
import { OPEN_DIRECTORY, OPEN_HOW_SIZE, PIPE_CLOEXEC, RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS, SYSCALL } from './abi.ts';
import { lastErrno, SystemCallError, syscall } from './libc.ts';
import { mountIdOf } from './mounts.ts';

/**
 * Threat: between the check of a directory's path and the launch, someone who may write in the workspace swaps a
 * component for a symbolic link, so that the command runs elsewhere than the receipt says. Therefore the directory is
 * opened once, by the kernel's own walk that cannot leave the workspace, and only the descriptor counts afterwards.
 */
export interface BoundDirectory {
  /** `O_PATH`: good for fchdir and as the start of relative look-ups. */
  readonly fd: number;
  readonly resolved: string;
  readonly facts: Cwd;
}

export function bindDirectory(workspace: string, requested: string): BoundDirectory {
  const root = openDirectory(workspace, workspace);
  try {
    const { fd, method } = openBeneath(root, relativeTo(root, workspace, requested), requested);
    return describe(fd, requested, method);
  } finally {
    closeSync(root);
  }
}

/** `openat2` where the kernel lets us (5.6; container profiles may answer EPERM), a walk by components elsewhere. */
function openBeneath(root: number, path: string, requested: string): { fd: number; method: Cwd['method'] } {
  try {
    return { fd: openat2(root, path), method: 'openat2' };
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno !== 'ENOSYS' && errno !== 'EPERM') throw problem(errno, requested);
  }
  return { fd: walkBeneath(root, path, requested), method: 'component-walk' };
}

const EAGAIN_TRIES = 16;

/** EAGAIN means that a rename elsewhere kept the kernel from proving that `..` stayed inside. */
function openat2(root: number, path: string): number {
  const how = Buffer.alloc(OPEN_HOW_SIZE);
  how.writeBigUInt64LE(BigInt(OPEN_DIRECTORY | PIPE_CLOEXEC), 0);
  how.writeBigUInt64LE(BigInt(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS), 16);
  let errno = 'EAGAIN';
  for (let attempt = 0; attempt < EAGAIN_TRIES && errno === 'EAGAIN'; attempt++) {
    const fd = syscall.withPath(SYSCALL.openat2, root, path, how, OPEN_HOW_SIZE);
    if (fd >= 0) return fd;
    errno = lastErrno();
  }
  throw new SystemCallError('openat2', errno);
}

/** Symbolic links are refused here, even those that stay inside: following them safely takes `openat2`. */
export function walkBeneath(root: number, path: string, requested: string): number {
  const opened: number[] = [];
  try {
    for (const component of path.split('/')) {
      if (component === '' || component === '.') continue;
      if (component === '..') {
        const left = opened.pop();
        if (left === undefined) throw problem('EXDEV', requested);
        closeSync(left);
        continue;
      }
      const parent = opened.at(-1) ?? root;
      const child = `/proc/self/fd/${parent}/${component}`;
      if (isSymbolicLink(child)) throw problem('ELOOP', requested);
      opened.push(openDirectory(child, requested, constants.O_NOFOLLOW));
    }
    return opened.pop() ?? openDirectory(`/proc/self/fd/${root}`, requested);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** Only chooses the message: `O_NOFOLLOW | O_DIRECTORY` refuses the link whatever this saw. */
function isSymbolicLink(path: string): boolean {
  try {
    readlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

function openDirectory(path: string, requested: string, more = 0): number {
  try {
    return openSync(path, OPEN_DIRECTORY | more);
  } catch (error) {
    throw problem(errnoOf(error) ?? '', requested);
  }
}

/** An absolute path is taken from where the workspace's own path, as given or as the kernel knows it, ends. */
function relativeTo(root: number, workspace: string, requested: string): string {
  if (!requested.startsWith('/')) return requested === '' ? '.' : requested;
  for (const prefix of [workspace, readlinkSync(`/proc/self/fd/${root}`)]) {
    const trimmed = prefix.replace(/\/+$/, '');
    if (requested === trimmed) return '.';
    if (requested.startsWith(`${trimmed}/`)) return requested.slice(trimmed.length).replace(/^\/+/, '') || '.';
  }
  throw problem('EXDEV', requested);
}

function describe(fd: number, requested: string, method: Cwd['method']): BoundDirectory {
  try {
    accessSync(`/proc/self/fd/${fd}`, constants.X_OK);
    const stats = fstatSync(fd, { bigint: true });
    const resolved = readlinkSync(`/proc/self/fd/${fd}`);
    const facts = {
      requested,
      resolved,
      mountId: mountIdOf(fd),
      device: `${stats.dev}`,
      inode: `${stats.ino}`,
      method,
    };
    return { fd, resolved, facts };
  } catch (error) {
    closeSync(fd);
    throw problem(errnoOf(error) ?? '', requested);
  }
}

function problem(errno: string, requested: string): BindProblem {
  const shown = JSON.stringify(requested);
  const details = { where: '/cwd', errno };
  if (errno === 'EXDEV' || errno === 'ELOOP') {
    return refused(
      'CWD_ESCAPES',
      `The directory ${shown} leads out of the workspace, or through a link that cannot be followed safely.`,
      {
        ...details,
        next: 'Name a directory inside the workspace.',
      },
    );
  }
  if (errno === 'ENOTDIR') return startFailed('CWD_NOT_A_DIRECTORY', `${shown} is not a directory.`, details);
  if (errno === 'ENOENT') return startFailed('CWD_NOT_FOUND', `The directory ${shown} does not exist.`, details);
  return startFailed('CWD_UNREADABLE', `The directory ${shown} cannot be entered (${errno}).`, details);
}

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { type Cwd, errnoOf } from '../../contract/index.ts';
import { type BindProblem, refused, startFailed } from '../problem.ts';

/** The directory by its path: checked, but nothing keeps a component from being swapped before the start (UNBOUND_CWD). */
export function resolveDirectory(workspace: string, requested: string): Cwd & { readonly resolved: string } {
  try {
    const root = realpathSync(workspace);
    const resolved = realpathSync(resolve(root, rebase(workspace, root, requested)));
    const way = relative(root, resolved);
    if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) throw escapes(requested);
    const stats = statSync(resolved, { bigint: true });
    if (!stats.isDirectory()) throw problem('ENOTDIR', requested);
    accessSync(resolved, constants.X_OK);
    return { requested, resolved, mountId: null, device: `${stats.dev}`, inode: `${stats.ino}`, method: 'path' };
  } catch (error) {
    const errno = errnoOf(error);
    throw errno?.startsWith('E') ? problem(errno, requested) : error;
  }
}

/** An absolute path below the workspace as it was given counts below its real path too. */
function rebase(workspace: string, root: string, requested: string): string {
  const way = isAbsolute(requested) ? relative(workspace, requested) : requested;
  return way.startsWith('..') && isAbsolute(requested) ? requested : resolve(root, way);
}

function escapes(requested: string): BindProblem {
  return refused('CWD_ESCAPES', `The directory ${JSON.stringify(requested)} leads out of the workspace.`, {
    where: '/cwd',
    next: 'Name a directory inside the workspace.',
  });
}

function problem(errno: string, requested: string): BindProblem {
  const shown = JSON.stringify(requested);
  const details = { where: '/cwd', errno };
  if (errno === 'ENOENT') return startFailed('CWD_NOT_FOUND', `The directory ${shown} does not exist.`, details);
  if (errno === 'ENOTDIR') return startFailed('CWD_NOT_A_DIRECTORY', `${shown} is not a directory.`, details);
  return startFailed('CWD_UNREADABLE', `The directory ${shown} cannot be entered (${errno}).`, details);
}

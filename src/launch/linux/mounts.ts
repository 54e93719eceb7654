import { readFileSync } from 'node:fs';
import { AT_FDCWD, AT_SYMLINK_NOFOLLOW, STATX, SYSCALL } from './abi.ts';
import { syscall } from './libc.ts';

/** Null before Linux 5.8, which reported no mount id. */
export function mountIdOf(fd: number): string | null {
  return mountId(fd, '', STATX.atEmptyPath);
}

function mountId(fd: number, path: string, flags: number): string | null {
  const data = Buffer.alloc(STATX.size);
  if (syscall.statx(SYSCALL.statx, fd, path, flags, STATX.mountId, data) < 0) return null;
  const known = (data.readUInt32LE(STATX.maskOffset) & STATX.mountId) !== 0;
  return known ? `${data.readBigUInt64LE(STATX.mountIdOffset)}` : null;
}

/**
 * Which mounts stand on these absolute paths, as a text to compare with a later one. A mount's number is given again
 * once it is free, so the table's own lines are part of it; its options are not, since a remount moves nothing.
 */
export function mountsOn(paths: readonly string[]): string {
  const ids = paths.map((path) => mountId(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW));
  const concerned = new Set(paths.map(escaped));
  const lines: string[] = [];
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const identity = line.split(' ', 5);
    if (concerned.has(identity[4] ?? '')) lines.push(identity.join(' '));
  }
  return [ids.join(' '), ...lines].join('\n');
}

/** As the kernel writes a mount point into its table. */
function escaped(path: string): string {
  return path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

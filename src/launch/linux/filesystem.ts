import { readFileSync, readlinkSync, statfsSync } from 'node:fs';

/**
 * Threat: a lease is only as good as the file system that keeps it. On overlayfs an older shared mapping or a write
 * behind the mount goes unseen, FUSE and loop-mounted images can change their bytes without asking. Leases therefore
 * count on four file systems alone, and not on a loop device.
 */
const NAMES: ReadonlyMap<number, string> = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x01021994, 'tmpfs'],
  [0x794c7630, 'overlay'],
  [0x65735546, 'fuse'],
  [0x6969, 'nfs'],
  [0x01021997, '9p'],
  [0x73717368, 'squashfs'],
  [0xe0f5e1e2, 'erofs'],
  [0xf2f52010, 'f2fs'],
  [0x2fc12fc1, 'zfs'],
  [0x858458f6, 'ramfs'],
  [0x4d44, 'vfat'],
  [0x9fa0, 'proc'],
]);
const KEEPS_LEASES: ReadonlySet<string> = new Set(['ext4', 'xfs', 'btrfs', 'tmpfs']);

/** Every rename on these passes this kernel, which tells inotify; servers and daemons behind the others do not. */
const TELLS_OF_RENAMES: ReadonlySet<string> = new Set([
  ...KEEPS_LEASES,
  'overlay',
  'squashfs',
  'erofs',
  'f2fs',
  'zfs',
  'ramfs',
  'vfat',
]);

export function filesystemOf(fd: number): string {
  return filesystemAt(`/proc/self/fd/${fd}`);
}

export function filesystemAt(path: string): string {
  const type = statfsSync(path).type >>> 0;
  return NAMES.get(type) ?? `0x${type.toString(16)}`;
}

/** Why no watch over a directory of this file system proves anything, or undefined where it does. */
export function watchObstacle(filesystem: string): string | undefined {
  return TELLS_OF_RENAMES.has(filesystem) ? undefined : `renames on ${filesystem} can go unseen`;
}

/** Why a lease on this file proves nothing, or undefined where it does. */
export function leaseObstacle(filesystem: string, device: bigint): string | undefined {
  if (!KEEPS_LEASES.has(filesystem)) return `leases do not bind on ${filesystem}`;
  if (filesystem === 'tmpfs') return undefined;
  const { major, minor } = split(device);
  const source = major === 0 ? mountSource(`0:${minor}`) : blockDevice(major, minor);
  if (source === undefined) return 'the block device of the file system is unknown';
  return /(^|\/)loop\d/.test(source) ? 'the file system is a loop-mounted image' : undefined;
}

/** As glibc's gnu_dev_major and gnu_dev_minor. */
function split(device: bigint): { major: number; minor: number } {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n);
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffffff00n);
  return { major: Number(major), minor: Number(minor) };
}

/** `/devices/virtual/block/loop0/loop0p1` names the loop even for its partitions. */
function blockDevice(major: number, minor: number): string | undefined {
  try {
    return readlinkSync(`/sys/dev/block/${major}:${minor}`);
  } catch {
    return mountSource(`${major}:${minor}`);
  }
}

/** For btrfs, whose device numbers are anonymous, and where `/sys` is not mounted. */
function mountSource(device: string): string | undefined {
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    if (line.split(' ')[2] === device) return line.split(' - ')[1]?.split(' ')[1];
  }
  return undefined;
}

import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';

const mounted = new Set();

/** Why no small disk can be made here, or undefined. */
export function noSmallDisk() {
  if (process.platform !== 'linux') return 'a tmpfs needs Linux';
  return process.getuid() === 0 ? undefined : 'mounting a tmpfs needs root';
}

/** A tmpfs of so many KiB; `unmount` gives it back. */
export function smallDisk(directory, kibibytes) {
  mkdirSync(directory, { recursive: true });
  system('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k,mode=0700`, 'receipts-fault', directory]);
  mounted.add(directory);
}

export function unmount(directory) {
  if (mounted.delete(directory)) system('umount', [directory]);
}

function system(command, args) {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`);
}

export function unmountAll() {
  for (const directory of [...mounted]) unmount(directory);
}

/** Writes until the disk has no room, or `leave` bytes less. */
export function fill(path, leave = 0) {
  const fd = openSync(path, 'w');
  let written = 0;
  try {
    for (const size of [65536, 4096, 1]) {
      const block = Buffer.alloc(size);
      try {
        for (;;) written += writeSync(fd, block);
      } catch (error) {
        if (error.code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(fd);
  }
  return leave === 0 ? written : written - leave;
}

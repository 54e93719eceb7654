import { closeSync, constants, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { errnoOf } from '../contract/index.ts';
import { orStoreError } from './files.ts';

/** Mutual exclusion between processes. Holding is tied to the process: a crashed one holds nothing. */
export interface Locks {
  /** Waits until the lock is ours. Held only over synchronous work. */
  acquire(path: string): () => void;
  /** Undefined when somebody alive holds it. */
  tryAcquire(path: string): (() => void) | undefined;
}

/** `flock(2)` on an open descriptor; false when it would have to wait. */
export type Flock = (fd: number, options: { readonly exclusive: boolean; readonly wait: boolean }) => boolean;

export function flockLocks(flock: Flock): Locks {
  const take = (path: string, wait: boolean): (() => void) | undefined =>
    orStoreError(path, () => {
      const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
      if (flock(fd, { exclusive: true, wait })) return () => closeSync(fd);
      closeSync(fd);
      return undefined;
    });
  return {
    acquire: (path) => take(path, true) ?? (() => {}),
    tryAcquire: (path) => take(path, false),
  };
}

const WAIT_STEP_MS = 5;

/** Where `flock` is out of reach: a file that names its holder's pid, taken over when that process is gone. */
export function pidFileLocks(): Locks {
  const tryAcquire = (path: string): (() => void) | undefined => {
    for (let round = 0; round < 2; round++) {
      try {
        writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
        return () => removeIfThere(path);
      } catch (error) {
        if (errnoOf(error) !== 'EEXIST') orStoreError(path, () => rethrow(error));
        if (isHeld(path)) return undefined;
        removeIfThere(path);
      }
    }
    return undefined;
  };
  return {
    tryAcquire,
    acquire(path) {
      for (;;) {
        const release = tryAcquire(path);
        if (release) return release;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_STEP_MS);
      }
    },
  };
}

function isHeld(path: string): boolean {
  let pid: number;
  try {
    pid = Number(readFileSync(path, 'utf8'));
  } catch {
    return false;
  }
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

function rethrow(error: unknown): never {
  throw error;
}

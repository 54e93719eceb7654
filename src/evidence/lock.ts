import { randomBytes } from 'node:crypto';
import { closeSync, constants, linkSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { errnoOf, ReceiptsError } from '../contract/index.ts';
import { orStoreError, removeIfThere } from './files.ts';

/** Mutual exclusion between processes. Holding is tied to the process: a crashed one holds nothing. */
export interface Locks {
  /**
   * Waits until the lock is ours, at most some seconds: the files lie where the command can reach them, and a command that
   * holds one must not hold us. Held only over synchronous work.
   */
  acquire(path: string): () => void;
  /** Undefined when somebody alive holds it. */
  tryAcquire(path: string): (() => void) | undefined;
}

/** `flock(2)` on an open descriptor; false when it would have to wait. */
export type Flock = (fd: number, options: { readonly exclusive: boolean; readonly wait: boolean }) => boolean;

const WAIT_STEP_MS = 2;
const LONGEST_WAIT_MS = 3000;

export function flockLocks(flock: Flock): Locks {
  return waiting((path) =>
    orStoreError(path, () => {
      const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
      if (flock(fd, { exclusive: true, wait: false })) return () => closeSync(fd);
      closeSync(fd);
      return undefined;
    }),
  );
}

/** Where `flock` is out of reach: a file that names its holder's pid, taken over when that process is gone. */
export function pidFileLocks(): Locks {
  return waiting((path) => {
    if (placePidFile(path)) return () => removeIfThere(path);
    if (isHeld(path)) return undefined;
    setAside(path);
    return placePidFile(path) ? () => removeIfThere(path) : undefined;
  });
}

function waiting(tryAcquire: Locks['tryAcquire']): Locks {
  return {
    tryAcquire,
    acquire(path) {
      const cell = new Int32Array(new SharedArrayBuffer(4));
      for (let waited = 0; waited <= LONGEST_WAIT_MS; waited += WAIT_STEP_MS) {
        const release = tryAcquire(path);
        if (release) return release;
        Atomics.wait(cell, 0, 0, WAIT_STEP_MS);
      }
      throw new ReceiptsError('STORE_UNWRITABLE', 'another process holds a lock of the store and does not let go', {
        where: path,
        next: 'End the process that holds it, or name another store with --store DIR.',
      });
    },
  };
}

/** The file appears with its pid in it, or not at all. */
function placePidFile(path: string): boolean {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  return orStoreError(path, () => {
    writeFileSync(temporary, String(process.pid), { flag: 'wx', mode: 0o600 });
    try {
      linkSync(temporary, path);
      return true;
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      removeIfThere(temporary);
    }
  });
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

/** Of several that find a dead holder's file only one gets it out of the way; one that took a live holder's gives it back. */
function setAside(path: string): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
    if (isHeld(aside)) linkSync(aside, path);
  } catch {
    // Somebody else was first.
  }
  removeIfThere(aside);
}

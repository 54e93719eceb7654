import { FCNTL } from './abi.ts';
import { fcntl, lastErrno } from './libc.ts';

/**
 * Read leases (F_SETLEASE, F_RDLCK): while one is held, no one can open the file for writing or cut it by `truncate`
 * without the kernel first telling us with SIGIO and making the writer wait `lease-break-time` seconds (45).
 * SIGIO's default action ends Node, so the handler stands before the first lease.
 */
const watched = new Map<number, () => void>();
let handlerStands = false;

/** Undefined when the lease is ours, else the errno: EAGAIN while a writer is open, EACCES for a file we do not own. */
export function takeLease(fd: number): string | undefined {
  standReady();
  return fcntl(fd, FCNTL.F_SETLEASE, FCNTL.F_RDLCK) < 0 ? lastErrno() : undefined;
}

/** Closing the description does the same. */
export function dropLease(fd: number): void {
  fcntl(fd, FCNTL.F_SETLEASE, FCNTL.F_UNLCK);
}

/** A lease that a writer waits for reads as F_UNLCK, long before it is taken away. */
export function leaseHolds(fd: number): boolean {
  return fcntl(fd, FCNTL.F_GETLEASE, 0) === FCNTL.F_RDLCK;
}

/** Calls `broken` once if a writer comes while the lease is watched. */
export function watchLease(fd: number, broken: () => void): void {
  watched.set(fd, broken);
}

export function unwatchLease(fd: number): void {
  watched.delete(fd);
}

export function standReady(): void {
  if (handlerStands) return;
  handlerStands = true;
  process.on('SIGIO', inspect);
}

/** SIGIO is one for all leases, and several may fall into one. */
function inspect(): void {
  for (const [fd, broken] of [...watched]) {
    if (leaseHolds(fd)) continue;
    watched.delete(fd);
    broken();
  }
}

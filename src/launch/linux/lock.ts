import { LOCK } from './abi.ts';
import { flock, lastErrno, SystemCallError } from './libc.ts';

/** `flock(2)` on an open descriptor; false when it would have to wait. Waiting blocks the whole process. */
export function lockFile(fd: number, options: { readonly exclusive: boolean; readonly wait: boolean }): boolean {
  const operation = (options.exclusive ? LOCK.exclusive : LOCK.shared) | (options.wait ? 0 : LOCK.nonBlocking);
  for (;;) {
    if (flock(fd, operation) === 0) return true;
    const errno = lastErrno();
    if (errno === 'EAGAIN') return false;
    if (errno !== 'EINTR') throw new SystemCallError('flock', errno);
  }
}

/** Closing the descriptor does the same. */
export function unlockFile(fd: number): void {
  flock(fd, LOCK.unlock);
}

import { fstatSync } from 'node:fs';
import { digestFd } from '../digest.ts';
import { leaseObstacle } from '../filesystem.ts';
import { dropLease, leaseHolds, takeLease } from '../leases.ts';
import { compareStats, type Hold, type Source, type Tried } from './hold.ts';

/**
 * In place, under a read lease taken before the digest and held to the end: `/proc/self/exe`, `$ORIGIN` and argv[0]
 * dispatch work as without us. The source's reading description gets the lease; the child execs the `O_PATH` one.
 */
export async function holdByLease(source: Source): Promise<Tried> {
  const hold = await leaseAndDigest(source.readFd, source.found.fd, source.filesystem);
  return typeof hold === 'string' ? { passedOver: hold } : { hold: { ...hold, method: 'lease', release() {} } };
}

/** Shared with the copies: the same lease, over another file. A string says why it was passed over. */
export async function leaseAndDigest(
  readFd: number,
  fd: number,
  filesystem: string,
): Promise<Omit<Hold, 'method' | 'release'> | string> {
  const before = fstatSync(readFd, { bigint: true });
  const obstacle = leaseObstacle(filesystem, before.dev);
  if (obstacle !== undefined) return obstacle;
  const errno = takeLease(readFd);
  if (errno !== undefined) return refusal(errno);
  const leased = fstatSync(readFd, { bigint: true });
  const { sha256, size } = await digestFd(readFd);
  const after = fstatSync(readFd, { bigint: true });
  if (!leaseHolds(readFd) || compareStats(leased, after) !== 'same') {
    dropLease(readFd);
    return 'the file changed while it was digested';
  }
  return { filesystem, sha256, size, fd, readFd, leaseFd: readFd, immutable: false, baseline: after };
}

function refusal(errno: string): string {
  if (errno === 'EACCES' || errno === 'EPERM') return 'the lease was refused: the file belongs to another user';
  if (errno === 'EAGAIN') return 'the lease was refused: the file is open for writing';
  return `the lease was refused (${errno})`;
}

import { accessSync, constants, fstatSync, readFileSync } from 'node:fs';
import { digestFd } from '../digest.ts';
import { watchObstacle } from '../filesystem.ts';
import { compareStats, type Source, type Tried } from './hold.ts';

/**
 * Threat: another process of this user rewrites the file while it runs. Where root owns it, and neither mode, group, ACL
 * nor capability lets this user write to it, only root can, and root is outside the promise (with `sudo` at hand, so is
 * whoever uses it); even then size, mtime and ctime tell. In place, so that programs find themselves and their libraries:
 * a leased copy of node has another `execPath`, and npm takes that for its prefix.
 */
export async function holdByOwner(source: Source): Promise<Tried> {
  const { readFd, filesystem, found } = source;
  const before = fstatSync(readFd, { bigint: true });
  const obstacle = ownerObstacle(readFd, before.uid, filesystem);
  if (obstacle !== undefined) return { passedOver: obstacle };
  const { sha256, size } = await digestFd(readFd);
  const baseline = fstatSync(readFd, { bigint: true });
  if (compareStats(before, baseline) !== 'same') return { passedOver: 'the file changed while it was digested' };
  const hold = { filesystem, sha256, size, fd: found.fd, readFd, immutable: false, baseline };
  return { hold: { ...hold, method: 'root-owned', release() {} } };
}

function ownerObstacle(readFd: number, owner: bigint, filesystem: string): string | undefined {
  if (process.geteuid?.() === 0) return 'this process is root itself';
  if (owner !== 0n) return 'the file does not belong to root';
  if (hasCapabilities()) return 'this process has capabilities that may overrule permissions';
  if (isWritable(readFd)) return 'this user may write to the file';
  return watchObstacle(filesystem) === undefined ? undefined : `permissions on ${filesystem} are kept by somebody else`;
}

function hasCapabilities(): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return effective === undefined || BigInt(`0x${effective}`) !== 0n;
}

/** Asked of the kernel, which knows groups and ACLs. */
function isWritable(fd: number): boolean {
  try {
    accessSync(`/proc/self/fd/${fd}`, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

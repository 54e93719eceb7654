import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../../contract/index.ts';
import { O_PATH } from '../abi.ts';
import { digestFd } from '../digest.ts';
import { filesystemOf } from '../filesystem.ts';
import { watchEntry } from '../script/watch.ts';
import { copyObstacle } from './copyable.ts';
import type { Source, Tried } from './hold.ts';
import { leaseAndDigest } from './lease.ts';

/**
 * A copy of our own, 0555, named by its digest, leased and digested anew each time: for files that belong to someone
 * else. Threat: the same uid may rename another file over it, so the path must go on naming the leased inode.
 *
 * Durability does not matter here (a lost copy is made again); the order does: write to an exclusive temporary name,
 * close, link to the final name without replacing, unlink the temporary one.
 */
export async function holdByCopy(source: Source): Promise<Tried> {
  const obstacle = copyObstacle(source);
  if (obstacle !== undefined) return { passedOver: obstacle };
  try {
    const { sha256 } = await digestFd(source.readFd);
    const path = join(source.programsDirectory, sha256);
    if (!existsSync(path)) await store(source, path);
    const first = await leaseCopy(path, sha256);
    if (!('altered' in first)) return first;
    unlinkSync(path);
    await store(source, path);
    const second = await leaseCopy(path, sha256);
    return 'altered' in second ? { passedOver: 'the copy does not have the digest it is named by' } : second;
  } catch (error) {
    return { passedOver: `no copy could be made in ${source.programsDirectory} (${errnoOf(error) ?? String(error)})` };
  }
}

async function store(source: Source, path: string): Promise<void> {
  mkdirSync(source.programsDirectory, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.${process.hrtime.bigint()}`;
  const fd = openSync(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o500,
  );
  try {
    await digestFd(source.readFd, (bytes) => writeWhole(fd, bytes));
  } finally {
    closeSync(fd);
  }
  try {
    chmodSync(temporary, 0o555);
    linkSync(temporary, path);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  } finally {
    unlinkSync(temporary);
  }
}

export function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

async function leaseCopy(path: string, sha256: string): Promise<Tried | { readonly altered: true }> {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const open: Array<() => void> = [() => closeSync(readFd)];
  const release = () => {
    for (const close of open.splice(0).reverse()) close();
  };
  try {
    const fd = openSync(`/proc/self/fd/${readFd}`, O_PATH);
    open.push(() => closeSync(fd));
    const watched = watchEntry({ path, fd, identity: fstatSync(readFd, { bigint: true }) });
    if (!('watch' in watched)) {
      release();
      return { passedOver: `our copy: ${'unwatchable' in watched ? watched.unwatchable : 'its path led elsewhere'}` };
    }
    const { watch } = watched;
    open.push(() => watch.release());
    const hold = await leaseAndDigest(readFd, fd, filesystemOf(readFd));
    if (typeof hold !== 'string' && hold.sha256 === sha256) {
      return { hold: { ...hold, method: 'cas-lease', path, watch, release } };
    }
    release();
    return typeof hold === 'string' ? { passedOver: `our copy: ${hold}` } : { altered: true };
  } catch (error) {
    release();
    throw error;
  }
}

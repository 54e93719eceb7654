import { fstatSync } from 'node:fs';
import { FS_IOC_MEASURE_VERITY } from '../abi.ts';
import { digestFd } from '../digest.ts';
import { ioctl, lastErrno } from '../libc.ts';
import type { Source, Tried } from './hold.ts';

const LARGEST_DIGEST = 64;

/** The kernel itself refuses every write to a file with verity, for good; our own SHA-256 is recorded all the same. */
export async function holdByVerity(source: Source): Promise<Tried> {
  const { readFd, found, filesystem } = source;
  const measured = Buffer.alloc(4 + LARGEST_DIGEST);
  measured.writeUInt16LE(LARGEST_DIGEST, 2);
  if (ioctl(readFd, FS_IOC_MEASURE_VERITY, measured) < 0)
    return { passedOver: `the file has no fs-verity (${lastErrno()})` };
  const { sha256, size } = await digestFd(readFd);
  const baseline = fstatSync(readFd, { bigint: true });
  return {
    hold: {
      method: 'fs-verity',
      filesystem,
      sha256,
      size,
      fd: found.fd,
      readFd,
      immutable: true,
      baseline,
      release() {},
    },
  };
}

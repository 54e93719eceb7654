import { closeSync, fstatSync, openSync } from 'node:fs';
import { errnoOf } from '../../../contract/index.ts';
import { FCNTL, MFD, O_PATH, SEAL } from '../abi.ts';
import { digestFd } from '../digest.ts';
import { fcntl, lastErrno, memfdCreate, orThrow } from '../libc.ts';
import { writeWhole } from './cas.ts';
import { copyObstacle } from './copyable.ts';
import type { Source, Tried } from './hold.ts';

/** A sealed copy in memory: right for static tools, wrong for programs that look for themselves. */
export async function holdByMemfd(source: Source): Promise<Tried> {
  const obstacle = copyObstacle(source);
  if (obstacle !== undefined) return { passedOver: obstacle };
  let readFd: number | undefined;
  try {
    const writable = createMemfd('program', true);
    readFd = writable;
    await digestFd(source.readFd, (bytes) => writeWhole(writable, bytes));
    seal(writable);
    const { sha256, size } = await digestFd(writable);
    const fd = openSync(`/proc/self/fd/${writable}`, O_PATH);
    const release = () => {
      closeSync(fd);
      closeSync(writable);
    };
    const baseline = fstatSync(writable, { bigint: true });
    return {
      hold: {
        method: 'memfd',
        filesystem: 'tmpfs',
        sha256,
        size,
        fd,
        readFd: writable,
        immutable: true,
        baseline,
        release,
      },
    };
  } catch (error) {
    if (readFd !== undefined) closeSync(readFd);
    return { passedOver: `no executable memfd (${errnoOf(error) ?? String(error)})` };
  }
}

/** MFD_EXEC (6.3) keeps `vm.memfd_noexec=1` from clearing the mode; older kernels answer EINVAL. */
export function createMemfd(name: string, executable: boolean): number {
  const flags = MFD.cloexec | MFD.allowSealing;
  if (!executable) return orThrow(memfdCreate(name, flags), 'memfd_create');
  const fd = memfdCreate(name, flags | MFD.exec);
  if (fd >= 0) return fd;
  if (lastErrno() !== 'EINVAL') return orThrow(fd, 'memfd_create');
  return orThrow(memfdCreate(name, flags), 'memfd_create');
}

/** After this no descriptor, also none opened earlier for writing, changes a byte. F_SEAL_EXEC is of 6.3. */
export function seal(fd: number): void {
  const seals = SEAL.write | SEAL.shrink | SEAL.grow | SEAL.seal;
  if (fcntl(fd, FCNTL.F_ADD_SEALS, seals | SEAL.exec) >= 0) return;
  orThrow(fcntl(fd, FCNTL.F_ADD_SEALS, seals), 'fcntl(F_ADD_SEALS)');
}

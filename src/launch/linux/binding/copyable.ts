import { fgetxattr } from '../libc.ts';
import type { Source } from './hold.ts';

const SETUID_OR_SETGID = 0o6000n;

/** A copy would lose what the file's owner granted it, or not find its libraries. */
export function copyObstacle({ found, readFd, kind }: Source): string | undefined {
  if ((found.stats.mode & SETUID_OR_SETGID) !== 0n) return 'a setuid or setgid file is never copied';
  if (fgetxattr(readFd, 'security.capability', null, 0) > 0) return 'a file with capabilities is never copied';
  if (kind.kind === 'elf' && kind.usesOrigin) return 'the program looks for libraries beside itself ($ORIGIN)';
  return undefined;
}

import { closeSync } from 'node:fs';
import { FCNTL } from '../abi.ts';
import { writeWhole } from '../binding/cas.ts';
import { createMemfd, seal } from '../binding/memfd.ts';
import { fcntl, orThrow } from '../libc.ts';

/**
 * Threat: a temporary file with the text of a `run:` step can be rewritten while the shell reads it. A sealed memfd
 * cannot. The shell opens it by the number that it has in the child, so that `$0` is that path.
 */
export interface SealedText {
  readonly fd: number;
  readonly path: string;
}

/** Above what scripts use for their own redirections, below any limit in practice. */
const LOWEST_FD = 100;

export function sealText(text: string): SealedText {
  const low = createMemfd('script', false);
  try {
    writeWhole(low, Buffer.from(text, 'utf8'));
    seal(low);
    const fd = orThrow(fcntl(low, FCNTL.F_DUPFD_CLOEXEC, LOWEST_FD), 'fcntl(F_DUPFD_CLOEXEC)');
    return { fd, path: `/proc/self/fd/${fd}` };
  } finally {
    closeSync(low);
  }
}

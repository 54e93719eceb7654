import type { Termination } from '../contract/index.ts';

/** How a command ended, in a few words. */
export function describeTermination(termination: Termination): string {
  switch (termination.kind) {
    case 'exited':
      return `exited ${termination.exitCode}`;
    case 'signaled':
      return `ended by ${termination.signal}`;
    case 'timed-out':
      return `timed out (${termination.signal ?? `exited ${termination.exitCode ?? 'unknown'}`})`;
    case 'refused':
      return `refused (${termination.code})`;
    case 'start-failed':
      return `did not start (${termination.code})`;
    case 'unknown':
      return 'ended unknown';
  }
}

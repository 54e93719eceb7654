import type { Termination } from './schema/index.ts';

/** How a command ended, in a few words. Texts in it are the receipt's: whoever prints them makes them visible first. */
export function describeTermination(termination: Termination): string {
  switch (termination.kind) {
    case 'exited':
      return `exited ${termination.exitCode}`;
    case 'signaled':
      return `ended by ${termination.signal}${termination.coreDumped ? ', core dumped' : ''}`;
    case 'timed-out':
      return `timed out (${termination.signal ?? `exited ${termination.exitCode ?? 'unknown'}`})`;
    case 'refused':
      return `refused (${termination.code})`;
    case 'start-failed':
      return `did not start (${termination.code})`;
    case 'unknown':
      return `end unknown, first missing stage ${termination.missingStage}`;
  }
}

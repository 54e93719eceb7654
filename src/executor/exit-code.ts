import { constants } from 'node:os';
import { RUN_EXIT, type Termination } from '../contract/index.ts';

/** The command's own code; 128+n for signal n; 124, 125, 126 and 127 as other command wrappers have them. */
export function exitCodeOf(termination: Termination): number {
  switch (termination.kind) {
    case 'exited':
      return termination.exitCode;
    case 'signaled':
      return 128 + signalNumber(termination.signal);
    case 'timed-out':
      return RUN_EXIT.timedOut;
    case 'start-failed':
      if (termination.code.startsWith('CWD_')) return RUN_EXIT.refused;
      return termination.code === 'PROGRAM_NOT_FOUND' ? RUN_EXIT.notFound : RUN_EXIT.notExecutable;
    case 'refused':
    case 'unknown':
      return RUN_EXIT.refused;
  }
}

function signalNumber(name: string): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return numbers[name] ?? Number(/^SIGRTMIN\+(\d+)$/.exec(name)?.[1] ?? 0) + 34;
}

import { PR_GET_DUMPABLE, PR_SET_DUMPABLE } from './abi.ts';
import { standReady } from './leases.ts';
import { prctl } from './libc.ts';
import { forbidCoreDumps } from './limits.ts';

let signalTaken = false;

/**
 * Threat: another process of the same uid reads the keys out of this one, by ptrace, `/proc/<pid>/mem` or `environ`, a
 * core dump, or by SIGUSR1, which makes Node open its inspector to anyone on the machine. Returns whether the process
 * can still be looked into.
 */
export function shieldProcess(): boolean {
  if (!signalTaken) process.on('SIGUSR1', () => {});
  signalTaken = true;
  standReady();
  forbidCoreDumps();
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) !== 0;
}

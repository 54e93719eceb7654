import { url } from 'node:inspector';
import { ReceiptsError } from '../contract/index.ts';

/** An open inspector hands the process's memory to whoever connects: nothing is signed beside one. */
export function assertUnobserved(): void {
  if (url() === undefined) return;
  throw new ReceiptsError('KEY_EXPOSED', 'a debugger is attached to this process: it could read the signing key', {
    next: 'Run without --inspect and without NODE_OPTIONS that open the inspector.',
  });
}

import { url } from 'node:inspector';
import { ReceiptsError } from '../contract/index.ts';
import { native } from './native.ts';

export interface ProtectionReport {
  /** True where other processes of this user can read this one's memory and environment. */
  readonly dumpable: boolean;
  readonly inspectorOpen: boolean;
  /** Why the process could not be protected; absent where it is. */
  readonly unprotectedReason?: string;
}

/** To be called before any key is read. */
export function protectProcess(): ProtectionReport {
  const inspectorOpen = url() !== undefined;
  if (typeof native === 'string') return { dumpable: true, inspectorOpen, unprotectedReason: native };
  return { dumpable: native.shieldProcess(), inspectorOpen };
}

/** Before each use of a key: whoever is connected to Node's inspector reads all of memory, and no kernel flag helps. */
export function assertUnobserved(): void {
  if (url() === undefined) return;
  throw new ReceiptsError('KEY_EXPOSED', "Node's inspector is open in this process: it could read the signing key.", {
    next: 'Start without --inspect, and without it in NODE_OPTIONS.',
  });
}

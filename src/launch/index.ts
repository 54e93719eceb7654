import { native } from './native.ts';
import { portableLauncher } from './portable/index.ts';
import type { Launcher } from './types.ts';

export { assertUnobserved, type ProtectionReport, protectProcess } from './protect.ts';
export type * from './types.ts';

/** The Linux launcher, or the portable one with its `unboundReason`. */
export function selectLauncher(options: { readonly portable?: boolean } = {}): Launcher {
  if (options.portable) return portableLauncher('the portable launcher was asked for');
  return typeof native === 'string' ? portableLauncher(native) : native.linuxLauncher();
}

/** `flock(2)`, and undefined where that is out of reach. */
export const lockFile = typeof native === 'string' ? undefined : native.lockFile;
export const unlockFile = typeof native === 'string' ? undefined : native.unlockFile;

import { describeExposure } from '../contract/index.ts';
import type { ProtectionReport } from '../launch/index.ts';
import { say } from './output.ts';

/** Tells whoever asks for a signature that others can read the key while it is made. */
export function sayExposure(protection: ProtectionReport | undefined, quiet: true | undefined): void {
  const exposure = protection && describeExposure(protection);
  if (exposure !== undefined && !quiet) say(`warning: ${exposure}`);
}

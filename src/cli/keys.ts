import { describeExposure } from '../contract/index.ts';
import { type Home, type LocalKeys, localKeys } from '../evidence/index.ts';
import { assertUnobserved, type ProtectionReport } from '../launch/index.ts';
import { say } from './output.ts';

/**
 * The user's keys, for what signs. Tells of whoever else can read them meanwhile; a connected inspector is refused before
 * anything is launched or stored. Throws KEY_EXPOSED, KEY_PERMISSIONS or KEY_INVALID.
 */
export async function signingKeys(
  home: Home,
  protection: ProtectionReport | undefined,
  quiet: true | undefined,
): Promise<LocalKeys> {
  const exposure = protection && describeExposure(protection);
  if (exposure !== undefined && !quiet) say(`warning: ${exposure}`);
  assertUnobserved();
  return localKeys(home, { guard: assertUnobserved });
}

import { dirname } from 'node:path';
import { rawPublicKey } from '../contract/key-id.ts';
import type { Signer } from '../evidence/index.ts';
import type { AttemptResult } from '../executor/index.ts';

/**
 * What the step can say of its own evidence while the task is still open. `verified` is not among them: that is for whoever
 * checks the closed task with a trusted key.
 * - `sealed`: the receipt is stored, and integrity, signature and completeness hold.
 * - `incomplete`: it is stored, and says itself that something is missing or weak.
 * - `blocked`: no command was started; the receipt says why.
 * - `invalid`: read back, it does not hold. Somebody changed the store, or the disk did.
 * - `unsealed`: there is no receipt.
 */
export type StepVerdict = 'sealed' | 'incomplete' | 'blocked' | 'invalid' | 'unsealed';

export type Judge = (result: AttemptResult, signer: Signer) => Promise<StepVerdict>;

/** Loads the verifier: to be called before the command runs, since nothing is imported from disk after it. */
export async function loadJudge(): Promise<Judge> {
  const { verifyPaths } = await import('../verify/index.ts');
  return async ({ sealed, termination }, signer) => {
    if (sealed === undefined) return 'unsealed';
    const publicKey = rawPublicKey(signer.publicKey).toString('base64');
    const trust = { version: 1 as const, keys: [{ keyId: signer.keyId, publicKey }] };
    const { receipts } = await verifyPaths([dirname(sealed.path)], { trust, trustLabel: 'own key' });
    const [receipt] = receipts;
    if (receipt?.verdicts.integrity !== 'pass' || receipt.verdicts.signer !== 'pass') return 'invalid';
    if (termination.kind === 'refused' || termination.kind === 'start-failed') return 'blocked';
    return receipt.problems.every(({ code }) => code === 'CHAIN_NOT_ASSESSED') ? 'sealed' : 'incomplete';
  };
}

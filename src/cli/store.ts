import { existsSync } from 'node:fs';
import { ReceiptsError } from '../contract/index.ts';
import { storeLocation } from '../evidence/index.ts';
import { type ReceiptVerification, type Verification, verifyPaths } from '../verify/index.ts';
import { trustFrom } from './trust.ts';

/** The store that was named or is found from here; it has to exist. */
export function existingStore(named: string | undefined): string {
  const store = storeLocation({ store: named, directory: process.cwd(), environment: process.env });
  if (existsSync(store)) return store;
  throw new ReceiptsError('INPUT_UNREADABLE', 'there is no store here', {
    where: store,
    next: 'Name one with --store DIR, or make one: receipts run -- COMMAND',
  });
}

/** Everything in a store, verified, in the order in which it was sealed per task. */
export async function verifiedStore(
  store: string,
  options: { trust?: string; bodies: boolean },
): Promise<Verification> {
  return verifyPaths([store], { ...trustFrom(options.trust), bodies: options.bodies });
}

export function receiptsOf(verification: Verification): ReceiptVerification[] {
  return [...verification.chains.flatMap((chain) => [...chain.receipts]), ...verification.receipts];
}

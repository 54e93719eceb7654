import { opendirSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { errnoOf, ReceiptsError } from '../contract/index.ts';
import { storeLocation } from '../evidence/index.ts';
import { type ReceiptVerification, type Verification, verifyPaths } from '../verify/index.ts';
import { currentDirectory } from './current-directory.ts';
import { trustFrom } from './trust.ts';

/** The store that was named or is found from here; it has to be a directory that can be listed. Throws INPUT_UNREADABLE. */
export function existingStore(named: string | undefined): string {
  const directory = named !== undefined && isAbsolute(named) ? named : currentDirectory();
  const store = storeLocation({ store: named, directory, environment: process.env });
  try {
    opendirSync(store).closeSync();
    return store;
  } catch (error) {
    throw new ReceiptsError('INPUT_UNREADABLE', reasonOf(errnoOf(error)), {
      where: store,
      next: 'Name one with --store DIR, or make one: receipts run -- COMMAND',
      cause: error,
    });
  }
}

function reasonOf(errno: string | undefined): string {
  if (errno === 'ENOENT') return 'there is no store here';
  return errno === 'ENOTDIR' ? 'a store is a directory' : `the store cannot be read (${errno ?? 'unknown reason'})`;
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

import { existsSync, readFileSync } from 'node:fs';
import { errnoOf, ReceiptsError } from '../contract/index.ts';
import { parseTrust, type Trust } from '../contract/trust.ts';
import { homeFrom } from '../evidence/index.ts';

export interface TrustInForce {
  readonly trust: Trust;
  readonly trustLabel?: string;
}

/** `--trust FILE`, else the trust file of the user's own keys. A key that travels with the evidence is never trusted. */
export function trustFrom(file: string | undefined): TrustInForce {
  if (file !== undefined) return { trust: parseTrust(read(file), file) };
  const { trustFile } = homeFrom(process.env);
  if (!existsSync(trustFile)) return { trust: parseTrust('version: 1\nkeys: []\n', 'no trust file') };
  return { trust: parseTrust(read(trustFile), trustFile), trustLabel: 'local key' };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ReceiptsError('INPUT_UNREADABLE', `cannot read the trust file (${errnoOf(error) ?? 'unknown'})`, {
      where: path,
      next: 'Name a readable file with --trust.',
      cause: error,
    });
  }
}

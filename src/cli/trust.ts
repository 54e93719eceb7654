import { existsSync } from 'node:fs';
import { parseTrust, type Trust } from '../contract/trust.ts';
import { homeFrom, readRegularFile } from '../evidence/index.ts';

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
  const options = {
    limit: 1024 * 1024,
    code: 'INPUT_UNREADABLE',
    next: 'Name a readable trust file with --trust.',
  } as const;
  return readRegularFile(path, options).toString('utf8');
}

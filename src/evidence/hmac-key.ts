import { createSecretKey, randomBytes } from 'node:crypto';
import { ReceiptsError, sha256 } from '../contract/index.ts';
import type { HmacKey } from './signing.ts';

/** docs/format.md §2.2. */
export function hmacKeyFrom(bytes: Buffer, kept: boolean): HmacKey {
  const label = Buffer.from('command-receipts/hmac-key/v1\n', 'utf8');
  const keyId = sha256(Buffer.concat([label, bytes]))
    .subarray(0, 16)
    .toString('base64url');
  return { keyId, key: createSecretKey(bytes), kept };
}

/** A key for this executor alone: what it digests is `unverifiable-later`. */
export function ephemeralHmacKey(): HmacKey {
  return hmacKeyFrom(randomBytes(32), false);
}

/** Reads an HMAC key from base64 or hex of at least 16 bytes. */
export function parseHmacKey(text: string, where: string): HmacKey {
  const trimmed = text.trim();
  const bytes = /^(?:[0-9a-fA-F]{2}){16,}$/.test(trimmed)
    ? Buffer.from(trimmed, 'hex')
    : Buffer.from(trimmed, 'base64');
  if (bytes.length < 16)
    throw new ReceiptsError('KEY_INVALID', 'an HMAC key is base64 or hex of at least 16 bytes', {
      where,
      next: 'Make one with: openssl rand -base64 32',
    });
  return hmacKeyFrom(bytes, true);
}

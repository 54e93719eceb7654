import type { KeyObject } from 'node:crypto';
import { publicKeyFromRaw } from '../contract/key-id.ts';
import type { Trust, TrustedKey } from '../contract/trust.ts';

/** The keys that a trust file names, each made into a key object once and only when needed. */
export class Keyring {
  /** How a trusted signer is called, for example `local key`. */
  readonly label: string;
  readonly #entries: ReadonlyMap<string, TrustedKey>;
  readonly #signers = new Map<string, TrustedSigner>();

  constructor(trust: Trust, label: string) {
    this.label = label;
    this.#entries = new Map(trust.keys.map((key) => [key.keyId, key]));
  }

  /** Undefined for a key that is not trusted: a key that travels with the evidence never is. */
  find(keyId: string): TrustedSigner | undefined {
    const known = this.#signers.get(keyId);
    if (known) return known;
    const entry = this.#entries.get(keyId);
    if (entry === undefined) return undefined;
    const signer = signerOf(entry);
    this.#signers.set(keyId, signer);
    return signer;
  }
}

export interface TrustedSigner {
  readonly key: KeyObject;
  /** docs/format.md §2.3: why the key may not have signed at this time (RFC 3339); undefined when it may. */
  invalidAt(time: string): string | undefined;
}

function signerOf(entry: TrustedKey): TrustedSigner {
  const from = entry.validFrom === undefined ? Number.NEGATIVE_INFINITY : Date.parse(entry.validFrom);
  const until = entry.validUntil === undefined ? Number.POSITIVE_INFINITY : Date.parse(entry.validUntil);
  const revoked = entry.revokedAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(entry.revokedAt);
  return {
    key: publicKeyFromRaw(Buffer.from(entry.publicKey, 'base64')),
    invalidAt(time) {
      const at = Date.parse(time);
      if (Number.isNaN(at)) return `${time} is no date`;
      if (at < from) return `signed for ${time}, the key is valid from ${entry.validFrom}`;
      if (at > until) return `signed for ${time}, the key was valid until ${entry.validUntil}`;
      // What a revoked key signed before its revocation stays valid.
      if (at >= revoked) return `signed for ${time}, the key was revoked at ${entry.revokedAt}`;
      return undefined;
    },
  };
}

import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';
import {
  type Custody,
  canonicalBytes,
  encodeEnvelope,
  preAuthenticationEncoding,
  ReceiptsError,
} from '../contract/index.ts';
import { keyIdOf } from '../contract/key-id.ts';

/** What signs: the key, its name, who else can reach it, and the secret that authenticates journal lines. */
export interface Signer {
  readonly keyId: string;
  readonly publicKey: KeyObject;
  readonly custody: Custody;
  /** The key stood in an environment that other processes could read when we started. */
  readonly exposedAtStart: boolean;
  readonly journalKey: Buffer;
  /** Signs the canonical form of a statement into an envelope. */
  seal(payloadType: string, statement: unknown): { readonly payload: Buffer; readonly envelope: Buffer };
}

export interface HmacKey {
  readonly keyId: string;
  readonly key: KeyObject;
  /** False for a key that nobody keeps: its digests cannot be checked later. */
  readonly kept: boolean;
}

export interface SignerOptions {
  readonly custody: Custody;
  readonly exposedAtStart?: boolean;
  /** Looked at before each signature; throws when the key must not be used any more. */
  readonly guard?: () => void;
}

const JOURNAL_LABEL = 'command-receipts/journal-mac/v1';

export function createSigner(privateKey: KeyObject, options: SignerOptions): Signer {
  if (privateKey.asymmetricKeyType !== 'ed25519')
    throw new ReceiptsError(
      'KEY_INVALID',
      `a signing key is Ed25519, this is ${privateKey.asymmetricKeyType ?? 'a secret'}`,
      {
        next: 'Make one with: openssl genpkey -algorithm ed25519',
      },
    );
  const publicKey = createPublicKey(privateKey);
  const keyId = keyIdOf(publicKey);
  return {
    keyId,
    publicKey,
    custody: options.custody,
    exposedAtStart: options.exposedAtStart ?? false,
    journalKey: Buffer.from(hkdfSync('sha256', seedOf(privateKey), Buffer.alloc(0), JOURNAL_LABEL, 32)),
    seal(payloadType, statement) {
      options.guard?.();
      const payload = canonicalBytes(statement);
      const signature = sign(null, preAuthenticationEncoding(payloadType, payload), privateKey);
      return { payload, envelope: encodeEnvelope({ payloadType, payload, keyId, signature }) };
    },
  };
}

/** Reads a private key from PEM or from base64 of PEM, PKCS#8 or the 32-byte seed. */
export function parseSigningKey(text: string, where: string): KeyObject {
  const trimmed = text.trim();
  try {
    if (trimmed.startsWith('-----')) return createPrivateKey(trimmed);
    const bytes = Buffer.from(trimmed, 'base64');
    if (bytes.subarray(0, 5).toString('latin1') === '-----') return createPrivateKey(bytes);
    const der = bytes.length === 32 ? Buffer.concat([PKCS8_PREFIX, bytes]) : bytes;
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch {
    // The cause is left out: messages of the crypto library can quote their input.
    throw new ReceiptsError('KEY_INVALID', 'this is no Ed25519 private key in PEM or base64', {
      where,
      next: 'Make one with: openssl genpkey -algorithm ed25519',
    });
  }
}

/** RFC 8410: the fixed bytes before the 32-byte seed. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

function seedOf(privateKey: KeyObject): Buffer {
  return privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8_PREFIX.length);
}

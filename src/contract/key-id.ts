import { createPublicKey, type KeyObject } from 'node:crypto';
import { sha256 } from './digest.ts';
import { ReceiptsError } from './errors.ts';

/** What stands before the 32 raw bytes in the SubjectPublicKeyInfo of an Ed25519 key (RFC 8410 §4). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const RAW_LENGTH = 32;

/** RFC 7638 thumbprint of an Ed25519 public key, given as a key or as its 32 raw bytes (docs/format.md §2.1). */
export function keyIdOf(publicKey: KeyObject | Uint8Array): string {
  const raw = publicKey instanceof Uint8Array ? ofRawLength(publicKey) : rawPublicKey(publicKey);
  // The members of an OKP thumbprint in code-point order: RFC 8037 §2.
  return sha256(`{"crv":"Ed25519","kty":"OKP","x":"${raw.toString('base64url')}"}`).toString('base64url');
}

/** The 32 raw bytes of an Ed25519 public key, the form in which trust.yml holds it. */
export function rawPublicKey(publicKey: KeyObject): Buffer {
  if (publicKey.type !== 'public' || publicKey.asymmetricKeyType !== 'ed25519')
    throw new ReceiptsError('KEY_INVALID', 'not an Ed25519 public key');
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length);
}

/** Throws KEY_INVALID for anything but 32 bytes. */
export function publicKeyFromRaw(raw: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, ofRawLength(raw)]), format: 'der', type: 'spki' });
}

function ofRawLength(raw: Uint8Array): Buffer {
  if (raw.length !== RAW_LENGTH)
    throw new ReceiptsError('KEY_INVALID', `a raw Ed25519 public key has ${RAW_LENGTH} bytes, this has ${raw.length}`);
  return Buffer.from(raw.buffer, raw.byteOffset, raw.length);
}

import { verify } from 'node:crypto';
import {
  decodeEnvelope,
  type Envelope,
  parseCanonical,
  preAuthenticationEncoding,
  ReceiptsError,
  type VerdictCode,
} from '../contract/index.ts';
import { isMissing, readWhole } from './evidence-file.ts';
import type { Findings } from './findings.ts';
import type { Keyring, TrustedSigner } from './keyring.ts';

/** A receipt is a few KiB; what is larger than this is not one. */
export const LARGEST_ENVELOPE = 8 * 1024 * 1024;

const SIGNATURE_BYTES = 64;

/** An envelope whose signature was looked at. */
export interface SignedStatement {
  readonly envelope: Envelope;
  /** Undefined: the signer is not trusted, so the signature could not be checked. */
  readonly signer: TrustedSigner | undefined;
}

/** The bytes of a statement's file; undefined, with the reason in the findings, when they cannot be had. */
export function readStatement(path: string, missing: VerdictCode, findings: Findings): Buffer | undefined {
  try {
    return readWhole(path, LARGEST_ENVELOPE);
  } catch (error) {
    if (!(error instanceof ReceiptsError)) throw error;
    findings.add(isMissing(error) ? missing : 'MALFORMED', path, error.message);
    return undefined;
  }
}

/** docs/format.md §3: canonical envelope. */
export function openEnvelope(bytes: Buffer, path: string, findings: Findings): Envelope | undefined {
  return orMalformed(path, findings, () => decodeEnvelope(bytes, path));
}

/** docs/format.md §2.1 and §3: a trusted Ed25519 key signed the pre-authentication encoding. Undefined for a false signature. */
export async function verifySignature(
  envelope: Envelope,
  path: string,
  keyring: Keyring,
  findings: Findings,
): Promise<SignedStatement | undefined> {
  const signer = keyring.find(envelope.keyId);
  if (signer === undefined) {
    findings.add('UNTRUSTED_SIGNER', path, `signed by ${envelope.keyId}, which the trust file does not list`);
    return { envelope, signer };
  }
  if (envelope.signature.length === SIGNATURE_BYTES && (await isSignedBy(signer, envelope)))
    return { envelope, signer };
  findings.add('INVALID_SIGNATURE', path, 'the signature does not fit the bytes');
  return undefined;
}

/** Checked by another thread: it takes as long as all the rest of judging a receipt. */
function isSignedBy({ key }: TrustedSigner, { payloadType, payload, signature }: Envelope): Promise<boolean> {
  const signed = preAuthenticationEncoding(payloadType, payload);
  return new Promise((resolve, reject) => {
    verify(null, signed, key, signature, (error, fits) => (error ? reject(error) : resolve(fits)));
  });
}

/** docs/format.md §1.1: the payload is canonical JSON. */
export function openPayload(envelope: Envelope, path: string, findings: Findings): unknown {
  return orMalformed(path, findings, () => parseCanonical(envelope.payload, path));
}

/** docs/format.md §3: `keyid` is the payload's own key id, and §2.3: that key was valid when it signed. */
export function verifyKey(
  statement: SignedStatement,
  stated: { readonly keyId: string; readonly pointer: string; readonly time: string },
  path: string,
  findings: Findings,
): void {
  const { envelope, signer } = statement;
  if (stated.keyId !== envelope.keyId)
    findings.add(
      'INVALID_SIGNATURE',
      `${path}#${stated.pointer}`,
      `names key ${stated.keyId}, the envelope was signed by ${envelope.keyId}`,
    );
  const invalid = signer?.invalidAt(stated.time);
  if (invalid !== undefined) findings.add('KEY_NOT_VALID_AT_TIME', path, invalid);
}

function orMalformed<T>(path: string, findings: Findings, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ReceiptsError)) throw error;
    findings.add('MALFORMED', error.where ?? path, error.message);
    return undefined;
  }
}

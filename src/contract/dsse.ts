import { canonicalBytes, parseCanonical } from './canonical.ts';
import { ReceiptsError } from './errors.ts';

/** Payload types: one per kind of statement, so that a signature over one never passes for another. */
export const PAYLOAD_TYPES = {
  receipt: 'application/vnd.command-receipt.v1+json',
  head: 'application/vnd.command-receipts.head.v1+json',
} as const;

/** A DSSE envelope with the one signature that every statement of ours carries. */
export interface Envelope {
  readonly payloadType: string;
  readonly payload: Buffer;
  readonly keyId: string;
  readonly signature: Buffer;
}

/** Pre-authentication encoding (DSSE v1): what is signed. */
export function preAuthenticationEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType, 'utf8');
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${type.length} `, 'utf8'),
    type,
    Buffer.from(` ${payload.length} `, 'utf8'),
    payload,
  ]);
}

export function encodeEnvelope(envelope: Envelope): Buffer {
  return canonicalBytes({
    payload: envelope.payload.toString('base64'),
    payloadType: envelope.payloadType,
    signatures: [{ keyid: envelope.keyId, sig: envelope.signature.toString('base64') }],
  });
}

/** Reads an envelope strictly: canonical bytes, exactly the three members, one signature, canonical base64. */
export function decodeEnvelope(bytes: Uint8Array, where: string): Envelope {
  const malformed = (message: string, at = where) => new ReceiptsError('MALFORMED', message, { where: at });
  const value = parseCanonical(bytes, where);
  const envelope = members(value, ['payload', 'payloadType', 'signatures']);
  if (!envelope) throw malformed('an envelope has exactly payload, payloadType and signatures');
  const { payload, payloadType, signatures } = envelope;
  if (typeof payload !== 'string' || typeof payloadType !== 'string' || !Array.isArray(signatures))
    throw malformed('an envelope member has the wrong type');
  if (signatures.length !== 1) throw malformed(`an envelope of ours has one signature, this has ${signatures.length}`);
  const signature = members(signatures[0], ['keyid', 'sig']);
  if (typeof signature?.keyid !== 'string' || typeof signature.sig !== 'string')
    throw malformed('a signature has exactly keyid and sig');
  return {
    payloadType,
    payload: canonicalBase64(payload, () => malformed('payload is not canonical base64')),
    keyId: signature.keyid,
    signature: canonicalBase64(signature.sig, () => malformed('sig is not canonical base64')),
  };
}

function members(value: unknown, names: readonly string[]): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const keys = Object.keys(value);
  if (keys.length !== names.length || !names.every((name) => keys.includes(name))) return undefined;
  return value as Record<string, unknown>;
}

/** Other spellings of the same bytes are refused: otherwise an altered last character would still verify. */
function canonicalBase64(text: string, error: () => ReceiptsError): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw error();
  return bytes;
}

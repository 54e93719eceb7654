import { type Head, PAYLOAD_TYPES } from '../contract/index.ts';
import { Head as HeadSchema } from '../contract/schema/journal.ts';
import { fieldErrors } from '../contract/validate.ts';
import type { Findings } from './findings.ts';
import type { Keyring } from './keyring.ts';
import { openEnvelope, openPayload, readStatement, verifyKey, verifySignature } from './statement.ts';

export interface VerifiedHead {
  readonly head: Head;
  /** False: its signer is not trusted, so what it says is a claim. */
  readonly trusted: boolean;
  readonly keyId: string;
}

/** docs/format.md §3 and §5.2: the signed end of a chain. Undefined, with the reason in the findings, without one. */
export async function verifyHead(
  path: string,
  keyring: Keyring,
  findings: Findings,
): Promise<VerifiedHead | undefined> {
  const bytes = readStatement(path, 'HEAD_MISSING', findings);
  const envelope = bytes && openEnvelope(bytes, path, findings);
  if (envelope === undefined) return undefined;
  if (envelope.payloadType !== PAYLOAD_TYPES.head) {
    findings.add(
      'SCHEMA_UNSUPPORTED',
      path,
      `payload type ${JSON.stringify(envelope.payloadType.slice(0, 120))} is not a head's`,
    );
    return undefined;
  }
  const statement = await verifySignature(envelope, path, keyring, findings);
  const payload = statement && openPayload(envelope, path, findings);
  if (statement === undefined || payload === undefined || !verifyForm(payload, path, findings)) return undefined;
  verifyKey(statement, { keyId: payload.keyId, pointer: '/keyId', time: payload.signedAt }, path, findings);
  if (statement.signer) findings.assessed('signer');
  return { head: payload, trusted: statement.signer !== undefined, keyId: envelope.keyId };
}

function verifyForm(payload: unknown, path: string, findings: Findings): payload is Head {
  const faults = [...fieldErrors(HeadSchema, payload)];
  for (const fault of faults)
    findings.add(
      fault.pointer === '/schema' ? 'SCHEMA_UNSUPPORTED' : 'MALFORMED',
      `${path}#${fault.pointer}`,
      fault.message,
    );
  if (faults.length > 0) return false;
  const { signedAt, bodiesExpireAt } = payload as Head;
  // §1.2: a time is one that exists.
  if (Number.isNaN(Date.parse(signedAt))) findings.add('MALFORMED', `${path}#/signedAt`, 'is not a time that exists');
  if (bodiesExpireAt !== null && Number.isNaN(Date.parse(bodiesExpireAt)))
    findings.add('MALFORMED', `${path}#/bodiesExpireAt`, 'is not a time that exists');
  return true;
}

import { type Static, Type } from 'typebox';
import { isSeq, parseDocument as parseYaml, stringify } from 'yaml';
import { parseDocument } from './document.ts';
import { ReceiptsError } from './errors.ts';
import { keyIdOf } from './key-id.ts';
import { Closed, KeyId } from './schema/primitives.ts';

/** RFC 3339, any offset: people write these. */
const Moment = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$',
});

const TrustedKey = Closed({
  keyId: KeyId,
  /** Base64 of the 32 raw bytes of an Ed25519 public key. */
  publicKey: Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' }),
  /** The first and the last moment at which the key may sign; absent: no bound. */
  validFrom: Type.Optional(Moment),
  validUntil: Type.Optional(Moment),
  /** From this moment on the key signs nothing; what it signed before stays valid. */
  revokedAt: Type.Optional(Moment),
});
export type TrustedKey = Static<typeof TrustedKey>;

export const Trust = Closed({
  version: Type.Literal(1),
  keys: Type.Array(TrustedKey),
  /** Reserved for keyless signers; this version reads none. */
  identities: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 0 })),
});
export type Trust = Static<typeof Trust>;

/** Reads the text of a trust.yml. Throws TRUST_INVALID with the line and column, or the key, at fault. */
export function parseTrust(text: string, file: string): Trust {
  const trust = parseDocument(Trust, text, file, 'TRUST_INVALID');
  const seen = new Set<string>();
  for (const [index, key] of trust.keys.entries()) {
    const fault = keyFault(key, seen);
    if (fault !== undefined)
      throw new ReceiptsError('TRUST_INVALID', `key ${key.keyId}: ${fault}`, {
        where: `${file}#/keys/${index}`,
        next: 'Take the key and its id from trust.yml in the COMMAND_RECEIPTS_HOME of the machine that signs.',
      });
    seen.add(key.keyId);
  }
  return trust;
}

/**
 * The text of a trust file with one more key; comments and order of an existing text stay, and a key that it already lists
 * leaves it as it is. Throws TRUST_INVALID when the existing text is no trust file.
 */
export function withTrustedKey(text: string | undefined, file: string, key: TrustedKey): string {
  if (text === undefined || text.trim() === '') return stringify({ version: 1, keys: [key] });
  if (parseTrust(text, file).keys.some((listed) => listed.keyId === key.keyId)) return text;
  const document = parseYaml(text);
  const keys = document.get('keys');
  if (isSeq(keys)) keys.flow = false;
  document.addIn(['keys'], document.createNode(key));
  return document.toString({ lineWidth: 0 });
}

function keyFault(key: TrustedKey, seen: ReadonlySet<string>): string | undefined {
  const raw = Buffer.from(key.publicKey, 'base64');
  if (raw.toString('base64') !== key.publicKey) return 'publicKey is not canonical base64';
  // docs/format.md §2.1: the id is derived from the key, so that a name can never stand for another key.
  if (keyIdOf(raw) !== key.keyId) return `keyId is not the key's RFC 7638 thumbprint, which is ${keyIdOf(raw)}`;
  if (seen.has(key.keyId)) return 'is listed twice';
  for (const name of ['validFrom', 'validUntil', 'revokedAt'] as const)
    if (key[name] !== undefined && Number.isNaN(Date.parse(key[name]))) return `${name} is not a date that exists`;
  const { validFrom, validUntil } = key;
  if (validFrom !== undefined && validUntil !== undefined && Date.parse(validUntil) < Date.parse(validFrom))
    return 'validUntil is before validFrom';
  return undefined;
}

import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ReceiptsError } from '../../src/contract/errors.ts';
import { keyIdOf, publicKeyFromRaw, rawPublicKey } from '../../src/contract/key-id.ts';
import { parseTrust, type TrustedKey, withTrustedKey } from '../../src/contract/trust.ts';

/** RFC 8037 appendix A. */
const RAW = Buffer.from('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', 'base64url');
const KEY_ID = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k';

const entry = (changes: Partial<Record<keyof TrustedKey, string>> = {}) =>
  Object.entries({ keyId: KEY_ID, publicKey: RAW.toString('base64'), ...changes }).map(
    ([name, value]) => `${name}: "${value}"`,
  );
const file = (...entries: string[][]) =>
  `version: 1\nkeys:\n${entries.map((lines) => `  - ${lines.join('\n    ')}\n`).join('')}`;

function codeOf(text: string): string {
  try {
    parseTrust(text, 'trust.yml');
    return 'read';
  } catch (error) {
    return error instanceof ReceiptsError ? `${error.code} ${error.where}` : String(error);
  }
}

describe('a key id', () => {
  it('is the thumbprint of RFC 7638 (vector of RFC 8037 A.3)', () => {
    expect(keyIdOf(RAW)).toBe(KEY_ID);
    expect(keyIdOf(publicKeyFromRaw(RAW))).toBe(KEY_ID);
  });

  it('and raw form stand for the key', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const again = publicKeyFromRaw(rawPublicKey(publicKey));
    expect(verify(null, Buffer.from('x'), again, sign(null, Buffer.from('x'), privateKey))).toBe(true);
  });

  it('is not had from another kind of key', () => {
    const { publicKey, privateKey } = generateKeyPairSync('x25519');
    expect(() => keyIdOf(publicKey)).toThrow(expect.objectContaining({ code: 'KEY_INVALID' }) as Error);
    expect(() => keyIdOf(privateKey)).toThrow(expect.objectContaining({ code: 'KEY_INVALID' }) as Error);
    expect(() => publicKeyFromRaw(RAW.subarray(1))).toThrow(expect.objectContaining({ code: 'KEY_INVALID' }) as Error);
  });
});

describe('a trust file', () => {
  it('is read', () => {
    const trust = parseTrust(
      file(entry({ validFrom: '2026-01-01T00:00:00Z', validUntil: '2027-01-01T00:00:00.5+02:00' })),
      'trust.yml',
    );
    expect(trust.keys).toEqual([
      {
        keyId: KEY_ID,
        publicKey: RAW.toString('base64'),
        validFrom: '2026-01-01T00:00:00Z',
        validUntil: '2027-01-01T00:00:00.5+02:00',
      },
    ]);
    expect(parseTrust('version: 1\nkeys: []\nidentities: []\n', 'trust.yml').keys).toEqual([]);
  });

  it.each([
    ['an id that is not the thumbprint', file(entry({ keyId: KEY_ID.replace('k', 'l') })), '#/keys/0'],
    ['a key twice', file(entry(), entry()), '#/keys/1'],
    [
      'a key that is no canonical base64',
      file(entry({ publicKey: RAW.toString('base64').replace('o=', 'p=') })),
      '#/keys/0',
    ],
    ['a key in base64url', file(entry({ publicKey: RAW.toString('base64url') })), ':4:16'],
    ['a time that is no date', file(entry({ revokedAt: '2026-13-01T00:00:00Z' })), '#/keys/0'],
    ['a day without a time', file(entry({ revokedAt: '2026-01-01' })), ':5:16'],
    ['a time without an offset', file(entry({ validFrom: '2026-01-01T00:00:00' })), ':5:16'],
    [
      'an end before the beginning',
      file(entry({ validFrom: '2026-01-02T00:00:00Z', validUntil: '2026-01-01T00:00:00Z' })),
      '#/keys/0',
    ],
    ['an unknown member', file(entry({ comment: 'x' } as never)), ':5:5'],
    ['another version', 'version: 2\nkeys: []\n', ':1:10'],
    ['identities, which are not read yet', 'version: 1\nkeys: []\nidentities: [x]\n', ':3:13'],
    ['nothing', '', ':1:1'],
  ])('with %s is TRUST_INVALID', (_name, text, where) => {
    expect(codeOf(text)).toBe(`TRUST_INVALID trust.yml${where}`);
  });
});

describe('a key added to a trust file', () => {
  const key = { keyId: KEY_ID, publicKey: RAW.toString('base64'), validFrom: '2026-01-01T00:00:00.000Z' };

  it('begins it', () => {
    expect(parseTrust(withTrustedKey(undefined, 'trust.yml', key), 'trust.yml').keys).toEqual([key]);
  });

  it('keeps what people wrote, and is added once', () => {
    const other = generateKeyPairSync('ed25519').publicKey;
    const before = `# ours\n${file([`keyId: ${keyIdOf(other)} # laptop`, `publicKey: ${rawPublicKey(other).toString('base64')}`])}`;
    const after = withTrustedKey(before, 'trust.yml', key);
    expect(after).toContain('# ours\n');
    expect(after).toContain('# laptop\n');
    expect(parseTrust(after, 'trust.yml').keys.map(({ keyId }) => keyId)).toEqual([keyIdOf(other), KEY_ID]);
    expect(withTrustedKey(after, 'trust.yml', key)).toBe(after);
    expect(parseTrust(withTrustedKey('version: 1\nkeys: []\n', 'trust.yml', key), 'trust.yml').keys).toEqual([key]);
  });

  it('is not added to what is no trust file', () => {
    expect(() => withTrustedKey('keys: 1\n', 'trust.yml', key)).toThrow(
      expect.objectContaining({ code: 'TRUST_INVALID' }) as Error,
    );
  });
});

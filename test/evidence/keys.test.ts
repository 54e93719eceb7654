import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseTrust } from '../../src/contract/trust.ts';
import { createSigner, homeFrom, localKeys, parseHmacKey, parseSigningKey } from '../../src/evidence/index.ts';

const home = () => homeFrom({ COMMAND_RECEIPTS_HOME: join(mkdtempSync(join(tmpdir(), 'receipts-home-')), 'home') });
const code = (expected: string) => expect.objectContaining({ code: expected });

describe('local keys', () => {
  it('are made once, 0600, and trusted here', async () => {
    const place = home();
    const first = await localKeys(place);
    const second = await localKeys(place);
    expect([first.created, second.created]).toEqual([true, false]);
    expect(second.signer.keyId).toBe(first.signer.keyId);
    expect(second.hmacKey.keyId).toBe(first.hmacKey.keyId);
    for (const file of [place.signingKeyFile, place.hmacKeyFile]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(place.directory).mode & 0o777).toBe(0o700);
    const trust = parseTrust(readFileSync(place.trustFile, 'utf8'), place.trustFile);
    expect(trust.keys.map(({ keyId }) => keyId)).toEqual([first.signer.keyId]);
    expect(first.signer.custody).toBe('reachable-by-command');
  });

  it('are one pair when two first runs race', async () => {
    const place = home();
    const all = await Promise.all(Array.from({ length: 8 }, () => localKeys(place)));
    expect(new Set(all.map(({ signer }) => signer.keyId)).size).toBe(1);
    expect(new Set(all.map(({ hmacKey }) => hmacKey.keyId)).size).toBe(1);
  });

  it('are refused when others may read them', async () => {
    const place = home();
    await localKeys(place);
    chmodSync(place.signingKeyFile, 0o640);
    await expect(localKeys(place)).rejects.toThrowError(code('KEY_PERMISSIONS'));
  });

  it('are refused when they are no keys, without quoting them', async () => {
    const place = home();
    await localKeys(place);
    writeFileSync(place.signingKeyFile, 'not-a-key-but-secret', { mode: 0o600 });
    const failure = await localKeys(place).catch((error: unknown) => error);
    expect(failure).toEqual(code('KEY_INVALID'));
    expect(String((failure as Error).message)).not.toContain('secret');
  });
});

describe('signing keys', () => {
  it('are read from PEM, base64 of PEM, PKCS#8 and the seed', () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }));
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    const id = createSigner(privateKey, { custody: 'process-memory' }).keyId;
    for (const text of [
      pem,
      Buffer.from(pem).toString('base64'),
      der.toString('base64'),
      der.subarray(16).toString('base64'),
    ])
      expect(createSigner(parseSigningKey(text, 'test'), { custody: 'process-memory' }).keyId).toBe(id);
  });

  it('of other kinds are refused', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(() => createSigner(privateKey, { custody: 'process-memory' })).toThrowError(code('KEY_INVALID'));
    expect(() => parseHmacKey('c2hvcnQ=', 'hmac-key')).toThrowError(code('KEY_INVALID'));
  });
});

describe('the home', () => {
  it('is never relative to where a command is run', () => {
    expect(homeFrom({ HOME: '', XDG_CONFIG_HOME: 'config' }).directory).toMatch(/^\/.*\.config\/command-receipts$/);
    expect(() => homeFrom({ COMMAND_RECEIPTS_HOME: 'home' })).toThrowError(code('USAGE'));
  });

  it.each(['/proc/x/y', '/sys/x', '/dev/null/x'])('says that it cannot be written: %s', async (directory) => {
    await expect(localKeys(homeFrom({ COMMAND_RECEIPTS_HOME: directory }))).rejects.toThrowError(
      code('HOME_UNWRITABLE'),
    );
  });
});

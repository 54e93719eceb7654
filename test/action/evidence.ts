import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandReceipt } from '../../src/contract/index.ts';
import { keyIdOf, rawPublicKey } from '../../src/contract/key-id.ts';
import type { StepResult } from './job.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');

/** A key made for this run of the tests, as a repository's secret would hold it. */
export const signingKey = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
export const hmacKey = Buffer.from('an hmac key of 32 bytes, no more').toString('base64');

/** What must not turn up anywhere: the lines of a key without its armour. */
export function canaries(key: string): string[] {
  return key.split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
}

export function receiptOf({ outputs }: StepResult): CommandReceipt {
  const envelope = JSON.parse(readFileSync(outputs['receipt-path'] ?? '', 'utf8')) as { payload: string };
  return JSON.parse(Buffer.from(envelope.payload, 'base64').toString('utf8')) as CommandReceipt;
}

/** Names and contents of every file below a directory; base64 payloads are decoded as well. */
export function treeText(directory: string): string {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const text = readFileSync(join(entry.parentPath, entry.name), 'latin1');
      const payload = /"payload":"([^"]+)"/.exec(text)?.[1];
      return [entry.name, text, payload === undefined ? '' : Buffer.from(payload, 'base64').toString('latin1')].join(
        '\n',
      );
    })
    .join('\n');
}

/** A trust file with the public half of `signingKey`, as someone who verifies would have it. */
export function writeTrust(path: string): string {
  const key = [`keyId: ${keyIdOf(publicKey)}`, `publicKey: ${rawPublicKey(publicKey).toString('base64')}`];
  writeFileSync(path, `version: 1\nkeys:\n  - ${key.join('\n    ')}\n`);
  return path;
}

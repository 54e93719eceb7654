import { createHash, createHmac, type KeyObject } from 'node:crypto';
import type { KeyedDigest } from './schema/index.ts';

export function sha256(bytes: Uint8Array | string): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** `sha256:` and hex, the form of every `digest` field. */
export function digestOf(bytes: Uint8Array | string): string {
  return `sha256:${sha256(bytes).toString('hex')}`;
}

/** What the first receipt of a chain links to. */
export function chainGenesis(chainId: string): string {
  return digestOf(`command-receipts/chain/v1\n${chainId}`);
}

/** What the first journal line of a chain links to. */
export function journalGenesis(chainId: string): string {
  return digestOf(`command-receipts/journal/v1\n${chainId}`);
}

/** c₋₁ of a stream's chunk chain. */
export function chunkGenesis(receiptId: string, stream: 'stdout' | 'stderr'): Buffer {
  return sha256(`command-receipts/chunks/v1\n${receiptId}\n${stream}`);
}

/** Keyed digest of a list of strings, each preceded by its byte length as 8 bytes big-endian: no two lists collide. */
export function keyedListDigest(items: readonly string[], key: KeyObject, keyId: string): KeyedDigest {
  const mac = createHmac('sha256', key);
  const length = Buffer.alloc(8);
  for (const item of items) {
    const bytes = Buffer.from(item, 'utf8');
    length.writeBigUInt64BE(BigInt(bytes.length));
    mac.update(length).update(bytes);
  }
  return { keyId, algorithm: 'hmac-sha256', value: mac.digest('hex') };
}

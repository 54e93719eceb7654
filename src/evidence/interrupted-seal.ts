import { verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ChainPosition,
  type CommandReceipt,
  canonicalText,
  decodeEnvelope,
  digestOf,
  PAYLOAD_TYPES,
  preAuthenticationEncoding,
  RECEIPT_FILE,
} from '../contract/index.ts';
import { receiptDirectory } from './layout.ts';
import type { Signer } from './signing.ts';

/**
 * The digest of a receipt that was placed but whose SEALED is missing; undefined where there is none. The file lies where
 * the command's user can write: only what our own key signed for exactly this place of the chain is taken up.
 */
export function readInterruptedSeal(
  taskDirectory: string,
  receiptId: string,
  position: ChainPosition,
  signer: Signer,
): string | undefined {
  const path = join(receiptDirectory(taskDirectory, receiptId), RECEIPT_FILE);
  try {
    const { payload, payloadType, keyId, signature } = decodeEnvelope(readFileSync(path), path);
    const signed = preAuthenticationEncoding(payloadType, payload);
    if (payloadType !== PAYLOAD_TYPES.receipt || keyId !== signer.keyId) return undefined;
    if (!verify(null, signed, signer.publicKey, signature)) return undefined;
    const receipt = JSON.parse(payload.toString('utf8')) as CommandReceipt;
    const fits = receipt.receiptId === receiptId && canonicalText(receipt.chain) === canonicalText(position);
    return fits ? digestOf(payload) : undefined;
  } catch {
    return undefined;
  }
}

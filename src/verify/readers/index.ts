import type { ReceiptReader } from './reader.ts';
import { readerV1 } from './v1.ts';

const READERS: readonly ReceiptReader[] = [readerV1];

/** The reader of a payload type; undefined for one that no version of ours has. */
export function readerFor(payloadType: string): ReceiptReader | undefined {
  return READERS.find((reader) => reader.payloadType === payloadType);
}

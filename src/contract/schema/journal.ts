import { type Static, Type } from 'typebox';
import { JOURNAL_EVENTS } from '../codes.ts';
import {
  Closed,
  Count,
  Decimal,
  Digest,
  KeyId,
  Nullable,
  OneOf,
  ReceiptId,
  Sha256Hex,
  Text,
  Timestamp,
} from './primitives.ts';

/**
 * One line of `journal.jsonl`. `previous` is the digest of the line before it (of the chain's id for the first);
 * `mac` is HMAC-SHA-256 over the line's canonical JSON without `mac`.
 */
export const JournalLine = Closed({
  schema: Type.Literal('command-receipts.journal.v1'),
  sequence: Count,
  chainId: ReceiptId,
  event: OneOf(JOURNAL_EVENTS),
  receiptId: Type.Optional(ReceiptId),
  at: Timestamp,
  monotonicNs: Decimal,
  keyId: KeyId,
  /** Redacted facts known at this stage. */
  facts: Type.Record(Text, Type.Unknown()),
  previous: Digest,
  mac: Sha256Hex,
});
export type JournalLine = Static<typeof JournalLine>;

/** The signed end of a task's chain: without it, cutting the tail would go unseen. */
export const Head = Closed({
  schema: Type.Literal('command-receipts.head.v1'),
  taskId: Text,
  chainId: ReceiptId,
  /** Receipts in the chain. */
  count: Count,
  /** Digest of the last receipt's payload; of the chain's id while there is none. */
  lastReceiptDigest: Digest,
  journalLines: Count,
  journalDigest: Digest,
  state: OneOf(['open', 'closed'] as const),
  /** Until then a missing output body is a fault; null: for as long as the receipt. */
  bodiesExpireAt: Nullable(Timestamp),
  signedAt: Timestamp,
  keyId: KeyId,
});
export type Head = Static<typeof Head>;

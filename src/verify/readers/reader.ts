import type { FieldError } from '../../contract/validate.ts';
import type { CommandFacts } from '../facts.ts';

/** Reads one version of the receipt. A reader, once issued, stays: receipts outlive the program that wrote them. */
export interface ReceiptReader {
  /** The payload's own `schema`. */
  readonly schema: string;
  readonly payloadType: string;
  /** Where the payload departs from the version's form; none when it has it. */
  faults(payload: unknown): readonly FieldError[];
  /** Call only for a payload without faults. */
  facts(payload: unknown, receiptDigest: string): CommandFacts;
}

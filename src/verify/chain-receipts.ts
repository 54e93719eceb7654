import { join } from 'node:path';
import { RECEIPT_FILE } from '../contract/index.ts';
import { type EvidenceListing, listEvidence } from './directory.ts';
import type { Findings } from './findings.ts';
import type { VerifiedHead } from './head.ts';
import { inOrder } from './in-order.ts';
import type { JournalReading } from './journal.ts';
import type { JudgeContext } from './options.ts';
import { type JudgedReceipt, verifyReceipt } from './receipt.ts';

/** So many at a time that other threads check signatures while this one reads, and that hostile ones fit into memory. */
const AT_ONCE = 8;

/** docs/format.md §4: each receipt of a task by itself, in the order of their ids, which is that of the requests. */
export async function verifyReceipts(
  directory: string,
  head: VerifiedHead | undefined,
  journal: JournalReading,
  context: JudgeContext,
  findings: Findings,
): Promise<JudgedReceipt[]> {
  const listing = listEvidence(directory, (message) => findings.add('CHAIN_GAP', directory, message));
  const entries = [...(listing?.entries ?? [])].sort((left, right) => (left.name < right.name ? -1 : 1));
  const bodiesExpireAt = expiryOf(head);
  const judged = await inOrder(entries, AT_ONCE, async (entry) => {
    const place = join(directory, entry.name);
    if (!entry.isDirectory()) findings.add('UNEXPECTED_FILE', place, 'not the directory of a receipt');
    const own = entry.isDirectory() ? listReceipt(place, findings) : undefined;
    if (own === undefined) return undefined;
    const path = join(place, RECEIPT_FILE);
    if (own.entries.some(({ name }) => name === RECEIPT_FILE))
      return verifyReceipt({ path, listing: own, named: true, bodiesExpireAt, inChain: true }, context);
    // What an attempt left behind that was not sealed is told by its journal lines.
    if (journal.intact && journal.attempts.get(entry.name) === undefined)
      findings.add('UNEXPECTED_FILE', place, 'a directory without a receipt');
    return undefined;
  });
  return judged.filter((receipt) => receipt !== undefined);
}

function listReceipt(place: string, findings: Findings): EvidenceListing | undefined {
  return listEvidence(place, (message) => findings.add('CHAIN_GAP', place, message));
}

/** Only a head that is known to be right can excuse a missing body. */
function expiryOf(head: VerifiedHead | undefined): number {
  const expiry = head?.trusted ? Date.parse(head.head.bodiesExpireAt ?? '') : Number.NaN;
  return Number.isNaN(expiry) ? Number.POSITIVE_INFINITY : expiry;
}

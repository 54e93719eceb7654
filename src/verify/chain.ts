import { basename, join } from 'node:path';
import {
  HEAD_FILE,
  type Head,
  JOURNAL_FILE,
  journalGenesis,
  RECEIPTS_DIRECTORY,
  shellWords,
  TASK_ENTRIES,
  taskDirectoryName,
} from '../contract/index.ts';
import { verifyReceipts } from './chain-receipts.ts';
import { type EvidenceListing, listEvidence } from './directory.ts';
import { kindOf } from './evidence-file.ts';
import { Findings } from './findings.ts';
import { type VerifiedHead, verifyHead } from './head.ts';
import { type JournalReading, readJournal } from './journal.ts';
import { type Link, verifyLinks } from './links.ts';
import { verifyOneSigner } from './one-signer.ts';
import type { JudgeContext } from './options.ts';
import type { JudgedReceipt } from './receipt.ts';
import { reportUnsealed, verifySealed } from './sealed.ts';
import { type ChainVerification, isVerified, type UnsealedAttempt, worst } from './verdicts.ts';

interface ChainInput {
  readonly directory: string;
  /** The directory stands in a store, where its name follows from the task; elsewhere it may have been copied. */
  readonly inStore: boolean;
}

export interface JudgedChain {
  readonly verification: ChainVerification;
  readonly receipts: readonly JudgedReceipt[];
}

/** docs/format.md §8: one task's four verdicts, over its head, journal and every receipt. */
export async function verifyChain(input: ChainInput, context: JudgeContext): Promise<JudgedChain> {
  const findings = new Findings();
  const places = placesIn(input.directory);
  const listing = listEvidence(input.directory, (message) => findings.add('HEAD_MISSING', input.directory, message));
  if (listing) reportStrangers(listing, findings);
  const head = await verifyHead(places.head, context.keyring, findings);
  const journal = readJournal(places.journal, head?.head.journalLines ?? 0, findings);
  const receipts = holdsReceipts(listing)
    ? await verifyReceipts(places.receipts, head, journal, context, findings)
    : [];
  verifyNames(input, head?.head, journal, places, findings);
  if (head) verifyHeadOfJournal(head.head, journal, places, findings);
  const unsealed = verifyWhole(receipts, head, journal, places, findings);
  return { verification: verificationOf(input, head, journal, receipts, unsealed, findings), receipts };
}

interface Places {
  readonly directory: string;
  readonly journal: string;
  readonly head: string;
  readonly receipts: string;
}

function placesIn(directory: string): Places {
  return {
    directory,
    journal: join(directory, JOURNAL_FILE),
    head: join(directory, HEAD_FILE),
    receipts: join(directory, RECEIPTS_DIRECTORY),
  };
}

/** docs/format.md §4.2: nothing lies in a task directory that the format does not name. */
function reportStrangers(listing: EvidenceListing, findings: Findings): void {
  for (const entry of listing.entries) {
    const path = join(listing.directory, entry.name);
    if (!TASK_ENTRIES.includes(entry.name))
      findings.add('UNEXPECTED_FILE', path, `${kindOf(entry)} that a task does not have`);
    else if (entry.name === RECEIPTS_DIRECTORY && !entry.isDirectory())
      findings.add('UNEXPECTED_FILE', path, `${kindOf(entry)}, not a directory`);
  }
}

function holdsReceipts(listing: EvidenceListing | undefined): boolean {
  return listing?.entries.some((entry) => entry.name === RECEIPTS_DIRECTORY && entry.isDirectory()) ?? false;
}

/** docs/format.md §4.1 and §5.2: directory, head and journal name one task and one chain. */
function verifyNames(
  input: ChainInput,
  head: Head | undefined,
  journal: JournalReading,
  places: Places,
  findings: Findings,
): void {
  if (head && journal.taskId !== undefined && journal.taskId !== head.taskId)
    findings.add('JOURNAL_BROKEN', `${places.journal}:1`, 'names another task than the head');
  if (head && journal.chainId !== undefined && journal.chainId !== head.chainId)
    findings.add(
      'JOURNAL_BROKEN',
      `${places.journal}:1`,
      `belongs to chain ${journal.chainId}, the head to ${head.chainId}`,
    );
  const taskId = head?.taskId ?? journal.taskId;
  if (taskId === undefined || taskDirectoryName(taskId) === basename(input.directory)) return;
  const message = `holds task ${JSON.stringify(taskId)}, whose directory is named ${taskDirectoryName(taskId)}`;
  if (input.inStore) findings.add('UNEXPECTED_FILE', input.directory, message);
  else findings.note(`the directory ${message}`);
}

/** docs/format.md §5.2 and §6.3: the head counts the journal's lines and states the last of them. */
function verifyHeadOfJournal(head: Head, journal: JournalReading, places: Places, findings: Findings): void {
  if (!journal.intact) return;
  const report = (line: number, message: string) =>
    findings.add('JOURNAL_BROKEN', `${places.journal}:${line}`, message);
  const { journalLines } = head;
  const digest = journalLines === 0 ? journalGenesis(head.chainId) : journal.digestAt;
  if (journal.lines < journalLines) report(journal.lines, `ends here; the head counts ${journalLines} lines`);
  else if (digest !== head.journalDigest) report(journalLines, 'is not the line whose digest the head states');
  else if (head.state === 'closed' && journal.lines > journalLines)
    report(journalLines + 1, 'stands behind the end of a closed chain');
  else if (head.state === 'closed' && !journal.closed)
    report(journal.lines, 'the head says closed, the journal has no CLOSED');
}

/** docs/format.md §5: links, end, journal and receipts tell one story, and none of it is missing. */
function verifyWhole(
  receipts: readonly JudgedReceipt[],
  head: VerifiedHead | undefined,
  journal: JournalReading,
  places: Places,
  findings: Findings,
): UnsealedAttempt[] {
  const links = receipts.flatMap(({ facts, verification }): Link[] =>
    facts ? [{ path: verification.path, facts }] : [],
  );
  const chainId = head?.head.chainId ?? journal.chainId;
  const taskId = head?.head.taskId ?? journal.taskId;
  verifyLinks(links, receipts.length - links.length, head?.head, chainId, places, findings);
  for (const { path, facts } of links)
    if (taskId !== undefined && facts.task.id !== taskId)
      findings.add(
        'CHAIN_BROKEN',
        `${path}#/task/id`,
        `belongs to task ${JSON.stringify(facts.task.id)}, not to ${JSON.stringify(taskId)}`,
      );
  verifyOneSigner(links, findings);
  if (receipts.length === 0)
    findings.add('CHAIN_EMPTY', places.directory, 'holds no receipt: nothing was recorded here');
  if (head?.head.state === 'open')
    findings.add(
      'CHAIN_OPEN',
      `${places.head}#/state`,
      `more can follow. Close it with: receipts close ${shellWords([head.head.taskId])}`,
    );
  if (!journal.intact) return [];
  verifySealed(links, journal, places.journal, findings);
  const ids = receipts.flatMap(({ verification }) => verification.receiptId ?? []);
  return reportUnsealed(new Set(ids), journal, places.journal, findings);
}

function verificationOf(
  input: ChainInput,
  head: VerifiedHead | undefined,
  journal: JournalReading,
  receipts: readonly JudgedReceipt[],
  unsealed: UnsealedAttempt[],
  findings: Findings,
): ChainVerification {
  if (head?.trusted && journal.intact) findings.assessed('integrity');
  if (head && journal.intact) findings.assessed('completeness');
  if (receipts.length > 0) findings.assessed('policy');
  const verifications = receipts.map(({ verification }) => verification);
  const verdicts = worst([findings.verdicts(), ...verifications.map((receipt) => receipt.verdicts)]);
  return {
    path: input.directory,
    taskId: head?.head.taskId ?? journal.taskId ?? null,
    chainId: head?.head.chainId ?? journal.chainId ?? null,
    state: head?.head.state ?? null,
    count: receipts.length,
    verdicts,
    verified: isVerified(verdicts),
    problems: findings.problems(),
    notes: findings.notes(),
    receipts: verifications,
    unsealed,
  };
}

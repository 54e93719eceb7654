import { canonicalText } from '../contract/index.ts';
import { type Attempt, missingStage } from './attempts.ts';
import type { Findings } from './findings.ts';
import type { JournalReading } from './journal.ts';
import type { Link } from './links.ts';
import type { UnsealedAttempt } from './verdicts.ts';

/** docs/format.md §6.2: each receipt is the one that the journal sealed, and ended as the journal says. */
export function verifySealed(links: readonly Link[], journal: JournalReading, path: string, findings: Findings): void {
  for (const link of links) {
    const attempt = journal.attempts.get(link.facts.receiptId);
    if (attempt?.sealed === undefined)
      findings.add('JOURNAL_BROKEN', path, `has no SEALED line for receipt ${link.facts.receiptId}`);
    else verifyAttempt(link, attempt, attempt.sealed, path, findings);
  }
}

function verifyAttempt(
  { facts }: Link,
  attempt: Attempt,
  sealed: NonNullable<Attempt['sealed']>,
  path: string,
  findings: Findings,
): void {
  const report = (message: string) =>
    findings.add('JOURNAL_BROKEN', `${path}:${sealed.line}`, `receipt ${facts.receiptId}: ${message}`);
  if (sealed.receiptDigest !== facts.receiptDigest) report('SEALED states another receipt digest');
  else if (sealed.chainSequence !== facts.chain.sequence)
    report(`SEALED states place ${String(sealed.chainSequence)}, the receipt ${facts.chain.sequence}`);
  else if (canonicalText(attempt.termination) !== canonicalText(facts.termination))
    report('the journal states another termination');
  else if (attempt.started !== (facts.started === 'yes'))
    report(`started: "${facts.started}", the journal ${attempt.started ? 'has' : 'lacks'} STARTED`);
  else if (facts.termination.kind === 'timed-out' && !attempt.timedOut)
    report('timed out, the journal lacks TIMEOUT_TERM');
}

/**
 * docs/format.md §5.3 and §8.7: every REQUESTED has a receipt. Only of what was never bound is it known that there was no process:
 * it comes to be between BOUND and STARTED, and the executor can end between the two.
 */
export function reportUnsealed(
  receiptIds: ReadonlySet<string>,
  journal: JournalReading,
  path: string,
  findings: Findings,
): UnsealedAttempt[] {
  const unsealed: UnsealedAttempt[] = [];
  for (const attempt of journal.attempts.all()) {
    const { receiptId, stage, line } = attempt;
    const missing = missingStage(attempt);
    if (missing === undefined) {
      if (!receiptIds.has(receiptId))
        findings.add('CHAIN_GAP', `${path}:${line}`, `receipt ${receiptId} was sealed and is missing`);
      continue;
    }
    unsealed.push({ receiptId, lastStage: stage, missingStage: missing });
    const unclear = stage === 'BOUND' ? '. It is not known whether a process existed' : '';
    findings.add(
      stage === 'REQUESTED' ? 'NEVER_STARTED' : 'MISSING_TERMINATED',
      `${path}:${line}`,
      `command ${receiptId} has no receipt: last stage ${stage}, first missing stage: ${missing}${unclear}. If its executor is gone, run: receipts recover`,
    );
  }
  return unsealed;
}

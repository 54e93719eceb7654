import type { CommandFacts } from './facts.ts';
import type { Findings } from './findings.ts';

type Report = (pointer: string, message: string) => void;

/** What the schema cannot say: members of one receipt that have to agree (docs/format.md §8.2). */
export function verifyRules(facts: CommandFacts, path: string, findings: Findings): void {
  const report: Report = (pointer, message) => findings.add('MALFORMED', `${path}#${pointer}`, message);
  verifyDates(facts, report);
  verifyClock(facts, report);
  verifyTimeout(facts, report);
  verifyUnknown(facts, report);
}

/** docs/format.md §1.2: a time is one that exists. */
function verifyDates({ time, evidence }: CommandFacts, report: Report): void {
  const dates = [
    ['/time/startedAt', time.startedAt],
    ['/time/endedAt', time.endedAt],
    ['/evidence/recoveredBy/recoveredAt', evidence.recoveredBy?.recoveredAt ?? null],
  ] as const;
  for (const [pointer, date] of dates)
    if (date !== null && Number.isNaN(Date.parse(date))) report(pointer, 'is not a time that exists');
}

/** The monotonic clock does not run backwards. The wall clock may, so nothing is concluded from it. */
function verifyClock({ time }: CommandFacts, report: Report): void {
  if (isBefore(time.monotonicEndNs, time.monotonicStartNs))
    report('/time/monotonicEndNs', 'is before monotonicStartNs');
}

/** A timeout falls within the command's time, is forced only after it was asked for, and ends the process one way. */
function verifyTimeout({ termination, time }: CommandFacts, report: Report): void {
  if (termination.kind !== 'timed-out') return;
  const { termSentNs, killSentNs } = termination.timeout;
  if (isBefore(termSentNs, time.monotonicStartNs) || isBefore(time.monotonicEndNs, termSentNs))
    report('/termination/timeout/termSentNs', "lies outside the command's time");
  if (isBefore(killSentNs ?? null, termSentNs)) report('/termination/timeout/killSentNs', 'is before termSentNs');
  if (termination.exitCode !== null && termination.signal !== null)
    report('/termination/signal', 'stands beside an exit code');
}

function isBefore(left: string | null, right: string | null): boolean {
  return left !== null && right !== null && BigInt(left) < BigInt(right);
}

/** A recoverer did not see the end, so it can say nothing else than that; and a stage is missing where the evidence ends. */
function verifyUnknown({ termination, started, evidence }: CommandFacts, report: Report): void {
  if (termination.kind !== 'unknown') {
    if (evidence.recoveredBy !== undefined)
      report('/termination/kind', 'a recovered receipt can only be of kind "unknown"');
    return;
  }
  const before = termination.missingStage === 'BOUND' || termination.missingStage === 'STARTED';
  if (before !== (started === 'unknown'))
    report('/termination/missingStage', `${termination.missingStage} does not go with started: "${started}"`);
}

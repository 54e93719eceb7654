import { GAP_BARS_HARD_GATE, type GapCode, type VerdictCode } from '../contract/index.ts';
import { pointerTo } from '../contract/validate.ts';
import { noteClosings } from './closings.ts';
import { type CommandFacts, STREAM_NAMES } from './facts.ts';
import type { Findings } from './findings.ts';

/** Where a gap says more than that a field is missing. */
const GAP_VERDICTS: Partial<Record<GapCode, VerdictCode>> = {
  'platform-unbound': 'UNBOUND_EXECUTABLE',
  'cwd-unbound': 'UNBOUND_CWD',
  'store-failed': 'EVIDENCE_BLOCKED',
};

/** docs/format.md §8.3: everything that keeps the receipt from supporting "the check ran". */
export function reportCompleteness(payload: unknown, facts: CommandFacts, path: string, findings: Findings): void {
  findings.assessed('completeness');
  reportNulls(payload, facts, path, findings);
  reportGaps(facts, path, findings);
  reportFlags(facts, path, findings);
  reportUnbound(facts, path, findings);
  noteClosings(facts, findings);
  if (facts.termination.kind === 'unknown') reportUnknown(facts.termination.missingStage, path, findings);
}

/** An unknown fact is null. Only the half of the termination that its kind excludes may be. */
function reportNulls(payload: unknown, facts: CommandFacts, path: string, findings: Findings): void {
  const reasons = new Map(facts.evidence.gaps.map((gap) => [gap.field, gap.reason]));
  walkNulls(payload, [], (pointer) => {
    if (isExcluded(pointer, facts)) return;
    const reason = reasons.get(pointer);
    findings.add(
      'FIELD_MISSING',
      `${path}#${pointer}`,
      reason ? `is unknown: ${reason}` : 'is null and no gap says why',
    );
  });
}

/** Recursion is bounded: canonical JSON of ours is at most 64 levels deep. */
function walkNulls(value: unknown, names: string[], found: (pointer: string) => void): void {
  if (value === null) found(names.reduce<string>(pointerTo, ''));
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== 'object') continue;
    names.push(name);
    walkNulls(member, names, found);
    names.pop();
  }
}

function isExcluded(pointer: string, { termination }: CommandFacts): boolean {
  if (pointer === '/termination/exitCode') return termination.kind !== 'timed-out' || termination.signal !== null;
  if (pointer === '/termination/signal') return termination.kind !== 'timed-out' || termination.exitCode !== null;
  return false;
}

function reportGaps(facts: CommandFacts, path: string, findings: Findings): void {
  for (const { field, reason } of facts.evidence.gaps) {
    if (reason === 'literal-skipped')
      findings.note(`too short to be masked, which bars a hard gate: ${facts.redaction.skippedLiterals.join(', ')}`);
    else if (GAP_BARS_HARD_GATE[reason])
      findings.add(GAP_VERDICTS[reason] ?? 'FIELD_MISSING', `${path}#${field}`, `is unknown: ${reason}`);
  }
}

function reportFlags(facts: CommandFacts, path: string, findings: Findings): void {
  const where = `${path}#/evidence/flags`;
  for (const flag of facts.evidence.flags) {
    if (flag === 'KEY_EXPOSED_AT_START')
      findings.note('the signing key could be read by other processes when the executor started');
    else if (flag === 'UNKILLABLE') findings.note('a process of the command could not be ended');
    else findings.add(flag, where, FLAG_MESSAGES[flag]);
  }
  const blocked = STREAM_NAMES.find((name) => facts.streams?.[name]?.blockedAt !== undefined);
  if (blocked !== undefined)
    findings.add('EVIDENCE_BLOCKED', `${path}#/streams/${blocked}/blockedAt`, FLAG_MESSAGES.EVIDENCE_BLOCKED);
  if (facts.redaction.status === 'blocked')
    findings.add('EVIDENCE_BLOCKED', `${path}#/redaction/status`, FLAG_MESSAGES.EVIDENCE_BLOCKED);
}

const FLAG_MESSAGES = {
  EVIDENCE_BLOCKED: 'redaction failed, so output was not stored from there on',
  UNBOUND_EXECUTABLE: 'the program that ran was not held to the bytes that were digested',
  UNBOUND_CWD: 'the working directory was not held to the directory that was recorded',
  EXECUTABLE_REBOUND: "the program's bytes changed while it was starting or running",
  SCRIPT_REBOUND: "the script's bytes changed while it was starting or running",
} as const;

/** The facts themselves say that nothing was bound, whether or not a flag does. */
function reportUnbound(facts: CommandFacts, path: string, findings: Findings): void {
  if (facts.started !== 'yes') return;
  const programs = [
    ['/executable', facts.executable] as const,
    ...facts.interpreters.map((program, index) => [`/interpreters/${index}`, program] as const),
  ];
  for (const [pointer, program] of programs)
    if ('binding' in program && program.binding.method === 'none')
      findings.add('UNBOUND_EXECUTABLE', `${path}#${pointer}/binding/method`, FLAG_MESSAGES.UNBOUND_EXECUTABLE);
  if (facts.script?.mode === 'unbound')
    findings.add(
      'UNBOUND_EXECUTABLE',
      `${path}#/script/mode`,
      'the script that ran was not held to the bytes that were digested',
    );
  if ('method' in facts.cwd && facts.cwd.method === 'path')
    findings.add('UNBOUND_CWD', `${path}#/cwd/method`, FLAG_MESSAGES.UNBOUND_CWD);
}

/** How the command ended is not known, and where the evidence of it stops. */
function reportUnknown(missingStage: string, path: string, findings: Findings): void {
  findings.add('UNKNOWN_TERMINATION', `${path}#/termination/kind`, 'how the command ended is not known');
  findings.add('MISSING_TERMINATED', `${path}#/termination/missingStage`, `first missing stage: ${missingStage}`);
}

import type { CommandReceipt, Gap, JournalLine, UnknownReceipt, UnknownTermination } from '../contract/index.ts';
import type { BoundStageFacts, RequestedFacts, StartedStageFacts } from './stages.ts';

export interface RecoveredParts {
  readonly receiptId: string;
  readonly lines: readonly JournalLine[];
  readonly chain: CommandReceipt['chain'];
  readonly termination: UnknownTermination;
  readonly recoveredBy: NonNullable<CommandReceipt['evidence']['recoveredBy']>;
}

/** The receipt that the journal's lines still support: what no line states is null and named as a gap, never guessed. */
export function receiptFromJournal(parts: RecoveredParts): CommandReceipt {
  const requested = stage<RequestedFacts>(parts.lines, 'REQUESTED');
  const bound = stage<BoundStageFacts>(parts.lines, 'BOUND');
  const started = stage<StartedStageFacts>(parts.lines, 'STARTED');
  if (requested === undefined) throw new Error('an attempt begins with REQUESTED');
  const common = {
    schema: 'command-receipt.v1' as const,
    receiptId: parts.receiptId,
    task: requested.task,
    chain: parts.chain,
    context: requested.context,
    command: bound?.command ?? requested.command,
    argv: bound?.argv ?? requested.argv,
    environment: requested.environment,
    time: { ...requested.time, monotonicEndNs: null, endedAt: null },
    redaction: requested.redaction,
    executor: requested.executor,
    rollout: requested.rollout,
    termination: parts.termination,
  };
  const evidence = (lost: readonly string[]): CommandReceipt['evidence'] => ({
    flags: [...new Set([...requested.flags, ...(bound?.flags ?? [])])].sort(),
    gaps: [...requested.gaps, ...(bound?.gaps ?? []), ...lost.map(crashed), ...journalGap(parts)],
    recoveredBy: parts.recoveredBy,
  });
  if (bound !== undefined && started !== undefined) {
    const { command: _command, argv: _argv, flags: _flags, gaps: _gaps, ...boundParts } = bound;
    const lost = [
      '/termination',
      '/time/monotonicEndNs',
      '/time/endedAt',
      '/process/rusage',
      '/streams/stdout',
      '/streams/stderr',
    ];
    return {
      ...common,
      ...boundParts,
      time: { ...common.time, ...started.time },
      process: started.process,
      sandbox: started.sandbox,
      started: 'yes',
      streams: { stdout: null, stderr: null },
      evidence: evidence(lost),
    };
  }
  return unknownReceipt(common, requested, bound, evidence);
}

function unknownReceipt(
  common: Omit<UnknownReceipt, 'cwd' | 'executable' | 'interpreters' | 'script' | 'policy' | 'started' | 'evidence'>,
  requested: RequestedFacts,
  bound: BoundStageFacts | undefined,
  evidence: (lost: readonly string[]) => CommandReceipt['evidence'],
): UnknownReceipt {
  const lost = [
    '/termination',
    '/time/monotonicEndNs',
    '/time/endedAt',
    ...(bound ? [] : ['/policy', '/executable', '/cwd']),
  ];
  return {
    ...common,
    cwd: bound?.cwd ?? requested.cwd,
    executable: bound?.executable ?? requested.executable,
    interpreters: bound?.interpreters ?? [],
    ...(bound?.script && { script: bound.script }),
    policy: bound?.policy ?? null,
    started: 'unknown',
    evidence: evidence(lost),
  };
}

function stage<T>(lines: readonly JournalLine[], event: JournalLine['event']): T | undefined {
  return lines.find((line) => line.event === event)?.facts as T | undefined;
}

function crashed(field: string): Gap {
  return { field, reason: 'executor-crashed' };
}

function journalGap({ recoveredBy }: RecoveredParts): Gap[] {
  return recoveredBy.journal === 'authenticated'
    ? []
    : [{ field: '/evidence/recoveredBy/journal', reason: 'journal-unauthenticated' }];
}

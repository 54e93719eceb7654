import type { CapturedStream } from '../capture/index.ts';
import { type CommandReceipt, type Gap, ReceiptsError, RUN_EXIT, type StreamEvidence } from '../contract/index.ts';
import type { Body, BoundStageFacts, SealedReceipt } from '../evidence/index.ts';
import type { Redactor } from '../redact/index.ts';
import type { Attempt, AttemptResult } from './attempt-parts.ts';
import { exitCodeOf } from './exit-code.ts';
import { redactGaps } from './facts.ts';
import type { Outcome } from './supervise.ts';

/**
 * Seals what a started command left. The command's own result stands whatever happens here: a store that cannot take the
 * bodies gets a receipt that says so, and one that takes nothing leaves the result with an error beside it.
 */
export function sealStarted(attempt: Attempt, stage: BoundStageFacts, outcome: Outcome): AttemptResult {
  const { place, plan, settings } = attempt;
  let sealed: SealedReceipt | undefined;
  let storeError: ReceiptsError | undefined;
  try {
    const lost = storeBodies(attempt, outcome);
    sealed = place.seal((chain) => assemble(attempt, stage, outcome, chain, lost), { close: settings.closeTask });
    storeError = lost;
  } catch (error) {
    storeError = asStoreError(error);
    place.abandon();
  }
  return {
    receiptId: plan.receiptId,
    taskId: settings.task.taskId,
    taskDirectory: settings.task.directory,
    termination: outcome.termination,
    exitCode: outcome.endedForRebinding ? RUN_EXIT.refused : exitCodeOf(outcome.termination),
    sealed,
    storeError,
    next: undefined,
    redact: (text) => plan.redactor.text(text),
  };
}

/** Writes bodies and chunk records; returns the error when they had to be given up. */
function storeBodies({ place }: Attempt, { streams, journalError }: Outcome): ReceiptsError | undefined {
  try {
    if (journalError !== undefined) throw journalError;
    place.writeBodies([bodyOf('stdout', streams.stdout), bodyOf('stderr', streams.stderr)]);
    return undefined;
  } catch (error) {
    place.dropBodies();
    return asStoreError(error);
  }
}

function bodyOf(stream: Body['stream'], { head, tail, evidence }: CapturedStream): Body {
  return { stream, head, tail, cut: evidence.truncation.reason !== 'none' };
}

function asStoreError(error: unknown): ReceiptsError {
  if (error instanceof ReceiptsError) return error;
  return new ReceiptsError('INTERNAL', error instanceof Error ? error.message : 'the evidence could not be stored', {
    cause: error,
  });
}

function assemble(
  { plan, place }: Attempt,
  stage: BoundStageFacts,
  outcome: Outcome,
  chain: CommandReceipt['chain'],
  lost: ReceiptsError | undefined,
): CommandReceipt {
  const {
    flags,
    gaps,
    time,
    cwd: _cwd,
    executable: _executable,
    command: _command,
    argv: _argv,
    ...base
  } = plan.requested(place.attempt);
  const { flags: boundFlags, gaps: boundGaps, ...bound } = stage;
  const { stdout, stderr } = outcome.streams;
  const allFlags = new Set([...flags, ...boundFlags, ...outcome.flags]);
  if (lost) allFlags.add('EVIDENCE_BLOCKED');
  const blocked =
    lost !== undefined || stdout.evidence.blockedAt !== undefined || stderr.evidence.blockedAt !== undefined;
  return {
    ...base,
    ...bound,
    schema: 'command-receipt.v1',
    receiptId: plan.receiptId,
    chain,
    started: 'yes',
    process: outcome.process,
    sandbox: outcome.sandbox,
    termination: outcome.termination,
    streams: lost
      ? { stdout: null, stderr: null }
      : {
          stdout: redactHolders(stdout.evidence, plan.redactor),
          stderr: redactHolders(stderr.evidence, plan.redactor),
        },
    redaction: { ...base.redaction, status: blocked ? 'blocked' : 'applied' },
    time: timeOf(time.bootId, outcome),
    evidence: {
      flags: [...allFlags].sort(),
      gaps: [...gaps, ...boundGaps, ...redactGaps(outcome.gaps, plan.redactor), ...ownGaps(outcome, lost)],
    },
  };
}

function timeOf(bootId: string | null, { startedAt, startedNs, endedAt, exit }: Outcome): CommandReceipt['time'] {
  return {
    monotonicStartNs: startedNs.toString(),
    monotonicEndNs: exit.monotonicNs.toString(),
    bootId,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt.toISOString(),
  };
}

/** The name of a background process was chosen by the command. */
function redactHolders(evidence: StreamEvidence, redactor: Redactor): StreamEvidence {
  if (evidence.holders === undefined) return evidence;
  const holders = evidence.holders.map(({ pid, comm }) => ({ pid, comm: redactor.text(comm) }));
  return { ...evidence, holders };
}

function ownGaps({ streams }: Outcome, lost: ReceiptsError | undefined): Gap[] {
  const gaps: Gap[] = [];
  for (const stream of ['stdout', 'stderr'] as const) {
    if (lost)
      gaps.push({ field: `/streams/${stream}`, reason: 'store-failed', ...(lost.errno && { detail: lost.errno }) });
    const { unterminated } = streams[stream];
    if (unterminated.length > 0)
      gaps.push({
        field: `/streams/${stream}/redaction`,
        reason: 'redaction-unterminated',
        detail: unterminated.join(', '),
      });
  }
  return gaps;
}

import { type CapturedStream, ChunkIndex, Masks, Pump, StreamCapture, type StreamName } from '../capture/index.ts';
import type { Flag, Gap, Process, Sandbox } from '../contract/index.ts';
import type { StartedStageFacts } from '../evidence/index.ts';
import type { Exit, Running } from '../launch/index.ts';
import type { Terms } from '../policy/index.ts';
import type { Attempt } from './attempt-parts.ts';
import type { Ending } from './ending.ts';

/** A command that was started and has ended. */
export interface Outcome {
  readonly termination: ReturnType<Ending['termination']>;
  readonly exit: Exit;
  /** Wall clock: right after the process existed, and when its end was seen. */
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly startedNs: bigint;
  readonly streams: Readonly<Record<StreamName, CapturedStream>>;
  readonly process: Process;
  readonly sandbox: Sandbox;
  readonly flags: readonly Flag[];
  readonly gaps: readonly Gap[];
  /** We ended the group because the pinned bytes changed under it. */
  readonly endedForRebinding: boolean;
  /** The journal could not be written while the command ran. */
  readonly journalError: unknown;
}

export interface Supervision {
  readonly running: Running;
  readonly terms: Terms;
  /** What the launcher saw change while the command ran. */
  readonly rebound: () => Flag | undefined;
}

/** Records STARTED, reads both streams to their end, passes signals on, keeps the time, records TERMINATED. */
export async function superviseCommand(attempt: Attempt, supervision: Supervision): Promise<Outcome> {
  const { place, request, ending, record } = attempt;
  const { running, terms, rebound } = supervision;
  const startedAt = new Date();
  const started: StartedStageFacts = {
    process: running.process(),
    sandbox: running.sandbox(),
    time: { monotonicStartNs: running.startedNs.toString(), startedAt: startedAt.toISOString() },
  };
  record.run(() => place.recordLocked('STARTED', { ...started }));
  ending.attach(running, shorter(request.timeoutMs, terms.timeoutMs));
  const ended = running.exit.then(() => new Date());
  const flags = new Set<Flag>();
  const { exit, streams } = await pumpFor(attempt, supervision, flags).run();
  const termination = ending.termination(exit);
  const finished = running.finish();
  for (const flag of finished.flags) flags.add(flag);
  record.run(() => place.recordEnd('TERMINATED', { termination, process: running.process() }));
  return {
    termination,
    exit,
    startedAt,
    endedAt: await ended,
    startedNs: running.startedNs,
    streams,
    process: running.process(),
    sandbox: running.sandbox(),
    flags: [...flags],
    gaps: finished.gaps,
    endedForRebinding: rebound() !== undefined,
    journalError: record.error(),
  };
}

function pumpFor(attempt: Attempt, { running, terms }: Supervision, flags: Set<Flag>): Pump {
  const { place, plan, request, settings, ending } = attempt;
  const index = new ChunkIndex();
  const masks = settings.masks === 'runner' ? masksFor(plan, settings) : undefined;
  const capture = (stream: StreamName): StreamCapture =>
    new StreamCapture({
      receiptId: plan.receiptId,
      stream,
      hmacKey: settings.hmacKey.key,
      hmacKeyId: settings.hmacKey.keyId,
      redactor: plan.redactor.stream(),
      quota: terms.keepBodies ? terms.quota : { head: 0, tail: 0 },
      quotaReason: terms.keepBodies ? 'quota' : 'policy',
      index,
      log: place.chunks,
      show: (bytes) => (masks ? masks.show(stream, bytes) : settings.console[stream].write(bytes)),
      onBlocked: (_error, offset) => {
        flags.add('EVIDENCE_BLOCKED');
        settings.notify(
          `redaction of ${stream} failed at byte ${offset}: nothing more of it is shown or stored (EVIDENCE_BLOCKED)`,
        );
      },
    });
  const captures = { stdout: capture('stdout'), stderr: capture('stderr') };
  const pump = new Pump({
    running,
    captures: masks?.before(captures) ?? captures,
    graceMs: () => ending.graceMs(request.graceMs),
  });
  for (const stream of ['stdout', 'stderr'] as const) {
    settings.console[stream].onDrain(() => pump.resume(stream));
    settings.console[stream].onClosed(() => pump.consumerClosed(stream));
  }
  return pump;
}

function masksFor({ redactor }: Attempt['plan'], { console }: Attempt['settings']): Masks {
  return new Masks({
    write: { stdout: (bytes) => console.stdout.write(bytes), stderr: (bytes) => console.stderr.write(bytes) },
    register: (value) => redactor.addLiterals([{ name: 'add-mask', value }]),
  });
}

function shorter(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}

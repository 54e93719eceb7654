import { type CapturedStream, ChunkIndex, Masks, Pump, StreamCapture, type StreamName } from '../capture/index.ts';
import type { Flag, Gap, Process, Sandbox } from '../contract/index.ts';
import type { Exit, Running } from '../launch/index.ts';
import type { Attempt } from './attempt.ts';
import { Ending } from './ending.ts';

/** A command that was started and has ended. */
export interface Outcome {
  readonly termination: ReturnType<Ending['termination']>;
  readonly exit: Exit;
  readonly streams: Readonly<Record<StreamName, CapturedStream>>;
  readonly process: Process;
  readonly sandbox: Sandbox;
  readonly flags: readonly Flag[];
  readonly gaps: readonly Gap[];
  /** The journal could not be written while the command ran. */
  readonly journalError: unknown;
  /** Signals to us are held off until this is called, so that the receipt is sealed first. */
  readonly release: () => void;
}

/** Records STARTED, reads both streams to their end, passes signals on, keeps the time, records TERMINATED. */
export async function superviseCommand(
  attempt: Attempt,
  running: Running,
  rebound: () => 'EXECUTABLE_REBOUND' | 'SCRIPT_REBOUND' | undefined,
): Promise<Outcome> {
  const { place, plan, request, settings } = attempt;
  const record = recorder();
  record.run(() => place.recordLocked('STARTED', { process: running.process(), sandbox: running.sandbox() }));
  const ending = new Ending({
    running,
    timeoutMs: plan.timeoutMs,
    killAfterMs: request.killAfterMs,
    cancelMs: settings.cancelMs,
    onTimeoutSignal: (event, sentNs) => record.run(() => place.recordLocked(event, { sentNs: sentNs.toString() })),
  });
  const flags = new Set<Flag>();
  const pump = pumpFor(attempt, running, flags);
  const { exit, streams } = await pump.run();
  ending.commandEnded();
  const termination = ending.termination(exit);
  const finished = running.finish();
  const late = rebound();
  for (const flag of [...finished.flags, ...(late ? [late] : [])]) flags.add(flag);
  record.run(() => place.recordEnd('TERMINATED', { termination, process: running.process() }));
  return {
    termination,
    exit,
    streams,
    process: running.process(),
    sandbox: running.sandbox(),
    flags: [...flags],
    gaps: [...finished.gaps],
    journalError: record.error(),
    release: () => ending.dispose(),
  };
}

function pumpFor({ place, plan, request, settings }: Attempt, running: Running, flags: Set<Flag>): Pump {
  const index = new ChunkIndex();
  const log = place.chunkFile();
  const masks = settings.masks === 'runner' ? masksFor(plan, settings) : undefined;
  const capture = (stream: StreamName): StreamCapture =>
    new StreamCapture({
      receiptId: plan.receiptId,
      stream,
      hmacKey: settings.hmacKey.key,
      hmacKeyId: settings.hmacKey.keyId,
      redactor: plan.redactor.stream(),
      quota: plan.terms.keepBodies ? plan.terms.quota : { head: 0, tail: 0 },
      quotaReason: plan.terms.keepBodies ? 'quota' : 'policy',
      index,
      log,
      show: (bytes) => (masks ? masks.show(stream, bytes) : settings.console[stream].write(bytes)),
      onBlocked: (_error, offset) => {
        flags.add('EVIDENCE_BLOCKED');
        settings.notify(
          `redaction of ${stream} failed at byte ${offset}: nothing more of it is shown or stored (EVIDENCE_BLOCKED)`,
        );
      },
    });
  const captures = { stdout: capture('stdout'), stderr: capture('stderr') };
  const pump = new Pump({ running, captures: masks?.before(captures) ?? captures, graceMs: request.graceMs });
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

/** Once the command runs, a journal that cannot be written must not touch it: the first failure is kept for its receipt. */
function recorder() {
  let failure: unknown;
  return {
    run(write: () => void): void {
      try {
        write();
      } catch (error) {
        failure ??= error;
      }
    },
    error: () => failure,
  };
}

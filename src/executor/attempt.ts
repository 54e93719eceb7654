import { v7 as uuidv7 } from 'uuid';
import {
  type CommandReceipt,
  type ErrorCode,
  type Flag,
  type PolicyDecision,
  ReceiptsError,
  type UnstartedTermination,
} from '../contract/index.ts';
import type { AttemptStore, BoundStageFacts } from '../evidence/index.ts';
import type { BindFailed, Bound, Running } from '../launch/index.ts';
import { type Decision, decide } from '../policy/index.ts';
import type { Attempt, AttemptResult } from './attempt-parts.ts';
import { Ending } from './ending.ts';
import { exitCodeOf } from './exit-code.ts';
import { redactGaps, storable, storableFailure } from './facts.ts';
import { type AttemptRequest, commandFacts, type ExecutorSettings, planAttempt } from './plan.ts';
import { recorder } from './recorder.ts';
import { sealStarted } from './seal.ts';
import { superviseCommand } from './supervise.ts';

/**
 * The life of an attempt: REQUESTED, BOUND, STARTED, TERMINATED, SEALED. Each stage is durable before the one that
 * depends on it: BOUND before the process exists, STARTED right after. Once a process exists its result is returned,
 * whatever happens to the evidence; before that a store that fails throws, and nothing was started.
 */
export async function runAttempt(request: AttemptRequest, settings: ExecutorSettings): Promise<AttemptResult> {
  const plan = planAttempt(request, settings);
  const record = recorder();
  let place: AttemptStore | undefined;
  // Before REQUESTED, so that no signal ends us between two stages.
  const ending = new Ending({
    killAfterMs: request.killAfterMs,
    cancelMs: settings.cancelMs,
    onTimeoutSignal: (event, sentNs) => record.run(() => place?.recordLocked(event, { sentNs: sentNs.toString() })),
  });
  try {
    place = settings.task.begin(plan.receiptId, plan.step, (attempt) => ({ ...plan.requested(attempt) }));
    return await bindAndRun({ request, settings, plan, place, ending, record });
  } finally {
    ending.dispose();
    place?.abandon();
  }
}

async function bindAndRun(attempt: Attempt): Promise<AttemptResult> {
  const { request, settings, plan } = attempt;
  const bound = await settings.launcher.bind({
    program: request.program,
    cwd: request.cwd,
    environment: plan.environment.passed,
    bindingOrder: plan.opening.bindingOrder,
    programsDirectory: settings.programsDirectory,
  });
  if (!bound.ok) return neverBound(attempt, bound);
  try {
    return await runBound(attempt, bound);
  } finally {
    bound.release();
  }
}

async function runBound(attempt: Attempt, bound: Bound): Promise<AttemptResult> {
  const decided = decide(attempt.settings.policy, attempt.plan.asked, openedBy(bound));
  const stage = boundStage(attempt, bound, decided);
  const refusal = refusalOf(attempt, stage, decided);
  if (refusal) return unstarted(attempt, { kind: 'refused', exitCode: null, signal: null, ...refusal }, stage);
  attempt.place.recordLocked('BOUND', { ...stage });
  let running: Running;
  let rebound: Flag | undefined;
  const onRebound = (flag: Flag): void => {
    rebound = flag;
  };
  try {
    running = bound.start({ onRebound });
  } catch (error) {
    if (!(error instanceof ReceiptsError)) throw error;
    // A program that changed after it was bound is our refusal; everything else is the system's.
    const kind = error.code === 'BINDING_REFUSED' ? 'refused' : 'start-failed';
    const termination = unstartedTermination(error, kind, attempt.plan.redactor.text(error.message));
    return unstarted(attempt, termination, stage, error.next);
  }
  const outcome = await superviseCommand(attempt, { running, terms: decided.terms, rebound: () => rebound });
  return sealStarted(attempt, stage, outcome);
}

/** What the policy decides on: the program's file as it was opened. */
function openedBy({ facts }: Bound): { path: string; sha256: string } | undefined {
  const { path, sha256 } = facts.executable;
  return path !== null && sha256 !== null ? { path, sha256 } : undefined;
}

function unstartedTermination(
  { code, errno }: { readonly code: ErrorCode; readonly errno?: string | undefined },
  kind: UnstartedTermination['kind'],
  message: string,
): UnstartedTermination {
  const base = { exitCode: null, signal: null, code, message };
  return kind === 'refused' ? { kind, ...base } : { kind, ...base, ...(errno !== undefined && { errno }) };
}

function boundStage(attempt: Attempt, { facts }: Bound, decided: Decision): BoundStageFacts {
  const { plan, settings, place } = attempt;
  return {
    ...storable(facts, plan.redactor),
    command: commandFacts(plan.requested(place.attempt).command, facts.argv, settings.hmacKey),
    policy: decisionFacts(decided, attempt),
    flags: [...facts.flags],
    gaps: redactGaps(facts.gaps, plan.redactor),
  };
}

function refusalOf(
  { plan }: Attempt,
  stage: BoundStageFacts,
  { terms }: Decision,
): { code: ErrorCode; message: string } | undefined {
  const denied = (message: string) => ({ code: 'POLICY_DENIED' as const, message });
  const { policy, executable } = stage;
  if (policy.outcome === 'DENY') return denied(`denied by the policy's rule ${policy.rule}`);
  const { method } = executable.binding;
  if (!terms.bindingOrder.includes(method))
    return denied(`the policy's rule ${policy.rule} does not accept the binding ${method}`);
  if (!plan.opening.refuseLoaderControl) return undefined;
  const names = plan.environment.passedNames
    .filter((entry) => entry.class === 'loader-control')
    .map(({ name }) => name);
  return names.length === 0
    ? undefined
    : denied(`the policy refuses these variables: ${plan.redactor.text(names.join(', '))}`);
}

function neverBound(attempt: Attempt, failed: BindFailed): AttemptResult {
  const { plan, settings } = attempt;
  const message = plan.redactor.text(failed.message);
  const termination = unstartedTermination(failed, failed.kind, message);
  const facts = {
    ...storableFailure(failed, plan.redactor),
    interpreters: [],
    policy: decisionFacts(decide(settings.policy, plan.asked, undefined), attempt),
  };
  return unstarted(attempt, termination, facts, failed.next);
}

function decisionFacts({ outcome, rule }: Decision, { settings, plan }: Attempt): PolicyDecision {
  const { digest, source } = settings.policy;
  return { decisionId: uuidv7(), digest, outcome, rule: plan.redactor.text(rule), source };
}

type UnstartedFacts = Pick<
  CommandReceipt & { started: 'no' },
  'cwd' | 'executable' | 'interpreters' | 'script' | 'policy'
> &
  Partial<Pick<BoundStageFacts, 'command' | 'argv' | 'flags' | 'gaps'>>;

/** A command of which no process came to be gets its receipt like any other. */
function unstarted(
  { plan, place, settings }: Attempt,
  termination: UnstartedTermination,
  facts: UnstartedFacts,
  next?: string,
): AttemptResult {
  const requested = plan.requested(place.attempt);
  const { flags, gaps, time, ...base } = requested;
  const { flags: boundFlags = [], gaps: boundGaps = [], ...boundFacts } = facts;
  place.recordEnd(termination.kind === 'refused' ? 'REFUSED' : 'START_FAILED', { termination });
  const sealed = place.seal(
    (chain) => ({
      ...base,
      ...boundFacts,
      schema: 'command-receipt.v1',
      receiptId: plan.receiptId,
      chain,
      started: 'no',
      termination,
      time: { ...time, monotonicEndNs: process.hrtime.bigint().toString(), endedAt: new Date().toISOString() },
      evidence: { flags: [...new Set([...flags, ...boundFlags])].sort(), gaps: [...gaps, ...boundGaps] },
    }),
    { close: settings.closeTask },
  );
  return {
    receiptId: plan.receiptId,
    taskId: settings.task.taskId,
    taskDirectory: settings.task.directory,
    termination,
    exitCode: exitCodeOf(termination),
    sealed,
    storeError: undefined,
    next,
    redact: (text) => plan.redactor.text(text),
  };
}

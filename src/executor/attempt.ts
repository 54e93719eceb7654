import { v7 as uuidv7 } from 'uuid';
import {
  type CommandReceipt,
  type ErrorCode,
  type PolicyDecision,
  ReceiptsError,
  type Termination,
  type UnstartedTermination,
} from '../contract/index.ts';
import type { AttemptStore, BoundStageFacts, SealedReceipt } from '../evidence/index.ts';
import type { BindFailed, Bound, Running } from '../launch/index.ts';
import { decide } from '../policy/index.ts';
import { exitCodeOf } from './exit-code.ts';
import { redactGaps, storable, storableFailure } from './facts.ts';
import { type AttemptRequest, commandFacts, type ExecutorSettings, type Plan, planAttempt } from './plan.ts';
import { sealStarted } from './seal.ts';
import { superviseCommand } from './supervise.ts';

/** What became of one command and of its evidence. */
export interface AttemptResult {
  readonly receiptId: string;
  readonly taskId: string;
  readonly taskDirectory: string;
  readonly termination: Termination;
  /** What `receipts run` exits with. */
  readonly exitCode: number;
  /** Undefined when the receipt could not be stored; `storeError` says why. */
  readonly sealed: SealedReceipt | undefined;
  readonly storeError: ReceiptsError | undefined;
  /** What a person can do about a command that was never started. */
  readonly next: string | undefined;
  /** Redacts a text with everything that this attempt knew to be secret. */
  readonly redact: (text: string) => string;
}

/**
 * The life of an attempt: REQUESTED, BOUND, STARTED, TERMINATED, SEALED. Each stage is durable before the one that
 * depends on it: BOUND before the process exists, STARTED right after. Throws before REQUESTED only; from there on
 * everything ends in a receipt.
 */
export async function runAttempt(request: AttemptRequest, settings: ExecutorSettings): Promise<AttemptResult> {
  const plan = planAttempt(request, settings);
  const place = settings.task.begin(plan.receiptId, plan.step, (attempt) => ({ ...plan.requested(attempt) }));
  const attempt = { request, settings, plan, place };
  try {
    const bound = await settings.launcher.bind({
      program: request.program,
      cwd: request.cwd,
      environment: plan.environment.passed,
      bindingOrder: plan.terms.bindingOrder,
      programsDirectory: settings.programsDirectory,
    });
    if (!bound.ok) return neverBound(attempt, bound);
    try {
      return await runBound(attempt, bound);
    } finally {
      bound.release();
    }
  } catch (error) {
    place.abandon();
    throw error;
  }
}

/** What the functions of one attempt pass to each other. */
export interface Attempt {
  readonly request: AttemptRequest;
  readonly settings: ExecutorSettings;
  readonly plan: Plan;
  readonly place: AttemptStore;
}

async function runBound(attempt: Attempt, bound: Bound): Promise<AttemptResult> {
  const stage = boundStage(attempt, bound);
  const refusal = refusalOf(attempt, stage);
  if (refusal) return unstarted(attempt, { kind: 'refused', exitCode: null, signal: null, ...refusal }, stage);
  attempt.place.recordLocked('BOUND', { ...stage });
  let running: Running;
  const rebound = { flag: undefined as 'EXECUTABLE_REBOUND' | 'SCRIPT_REBOUND' | undefined };
  try {
    running = bound.start({
      onRebound: (flag) => {
        rebound.flag = flag;
      },
    });
  } catch (error) {
    if (!(error instanceof ReceiptsError)) throw error;
    // A program that changed after it was bound is our refusal; everything else is the system's.
    const kind = error.code === 'BINDING_REFUSED' ? 'refused' : 'start-failed';
    const termination = unstartedTermination(error, kind, attempt.plan.redactor.text(error.message));
    return unstarted(attempt, termination, stage, error.next);
  }
  const outcome = await superviseCommand(attempt, running, () => rebound.flag);
  return sealStarted(attempt, stage, outcome);
}

function unstartedTermination(
  { code, errno }: { readonly code: ErrorCode; readonly errno?: string | undefined },
  kind: UnstartedTermination['kind'],
  message: string,
): UnstartedTermination {
  const base = { exitCode: null, signal: null, code, message };
  return kind === 'refused' ? { kind, ...base } : { kind, ...base, ...(errno !== undefined && { errno }) };
}

function boundStage({ plan, settings, place }: Attempt, bound: Bound): BoundStageFacts {
  const { hmacKey, policy } = settings;
  const { facts } = bound;
  const stored = storable(facts, plan.redactor);
  const { path, sha256 } = facts.executable;
  const opened = path !== null && sha256 !== null ? { path, sha256 } : undefined;
  const requested = plan.requested(place.attempt);
  return {
    ...stored,
    command: commandFacts(requested.command, facts.argv, hmacKey),
    policy: decision(decide(policy, plan.asked, opened), settings),
    flags: [...facts.flags],
    gaps: redactGaps(facts.gaps, plan.redactor),
  };
}

function refusalOf({ plan }: Attempt, stage: BoundStageFacts): { code: ErrorCode; message: string } | undefined {
  if (stage.policy.outcome === 'DENY')
    return { code: 'POLICY_DENIED', message: `denied by the policy's rule ${stage.policy.rule}` };
  if (!plan.terms.refuseLoaderControl) return undefined;
  const names = plan.environment.passedNames
    .filter((entry) => entry.class === 'loader-control')
    .map(({ name }) => name);
  if (names.length === 0) return undefined;
  return {
    code: 'POLICY_DENIED',
    message: `the policy refuses these variables: ${plan.redactor.text(names.join(', '))}`,
  };
}

function neverBound(attempt: Attempt, failed: BindFailed): AttemptResult {
  const { plan, settings } = attempt;
  const message = plan.redactor.text(failed.message);
  const termination = unstartedTermination(failed, failed.kind, message);
  const facts = {
    ...storableFailure(failed, plan.redactor),
    interpreters: [],
    policy: decision(decide(settings.policy, plan.asked, undefined), settings),
  };
  return unstarted(attempt, termination, facts, failed.next);
}

function decision(made: { outcome: 'ALLOW' | 'DENY'; rule: string }, { policy }: ExecutorSettings): PolicyDecision {
  return { decisionId: uuidv7(), digest: policy.digest, outcome: made.outcome, rule: made.rule, source: policy.source };
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

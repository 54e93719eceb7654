import { resolve } from 'node:path';
import { describeExposure, describeTermination, ReceiptsError, RUN_EXIT } from '../contract/index.ts';
import {
  type AttemptRequest,
  type AttemptResult,
  consoleStream,
  type ExecutorSettings,
  findPolicy,
  openExecutor,
  runAttempt,
} from '../executor/index.ts';
import type { ProtectionReport } from '../launch/index.ts';
import type { Literal } from '../redact/index.ts';
import { InputFields } from './fields.ts';
import { type RunInputs, readRunInputs, secretInputs } from './inputs.ts';
import { cwdOf, jobOf } from './job.ts';
import { keysFor, takeOutSecrets } from './keys.ts';
import { literalsOf, redactorFor, refuseSecretName } from './redaction.ts';
import { LineAwareConsole, Runner } from './runner.ts';
import { commandRow } from './summary.ts';
import { type Judge, loadJudge, type StepVerdict } from './verdict.ts';

const KILL_AFTER_MS = 10_000;
const GRACE_MS = 5_000;

/** Outputs of a step that got no receipt. */
const NOTHING = { 'receipt-id': '', 'receipt-path': '', termination: 'not-attempted', verdict: 'unsealed' };

interface Step {
  readonly runner: Runner;
  readonly stdout: LineAwareConsole;
  /** Without the values of secret inputs. */
  readonly environment: NodeJS.ProcessEnv;
  readonly literals: readonly Literal[];
}

/** One use of the action with `mode: run`; returns the exit code. */
export async function runStep(variables: NodeJS.ProcessEnv, protection: ProtectionReport): Promise<number> {
  const stdout = new LineAwareConsole(consoleStream(1));
  const literals = literalsOf(secretInputs(new InputFields(variables)));
  const runner = new Runner(variables, stdout, redactorFor(literals, variables, undefined));
  try {
    const read = await readRunInputs(variables);
    const environment = takeOutSecrets(variables);
    const exposure = describeExposure(protection);
    if (exposure !== undefined) runner.warning(exposure);
    if (read.ok) return await runCommand(read.inputs, { runner, stdout, environment, literals });
    for (const fault of read.faults) runner.fail(fault);
  } catch (error) {
    runner.fail(error);
  } finally {
    await stdout.flush();
  }
  runner.outputs({ ...NOTHING, 'exit-code': String(RUN_EXIT.refused) });
  await stdout.flush();
  return RUN_EXIT.refused;
}

async function runCommand(inputs: RunInputs, step: Step): Promise<number> {
  const { runner } = step;
  runner.mask(inputs.secrets);
  // Nothing is imported from disk once the command has run.
  const judge = await loadJudge();
  const { settings, warning } = await open(inputs, step);
  if (warning !== undefined) runner.warning(warning);
  const result = await runAttempt(requestOf(inputs, step), settings);
  await Promise.all([settings.console.stdout.flush(), settings.console.stderr.flush()]);
  runner.redact = result.redact;
  const verdict = await verdictOn(result, settings, judge, runner);
  report(result, verdict, runner);
  runner.outputs(outputsOf(result, verdict));
  runner.summary(commandRow(inputs.program, result, verdict));
  settings.task.dispose();
  return result.exitCode;
}

/** The command has run: whatever the verifier meets, its exit code stands. */
async function verdictOn(
  result: AttemptResult,
  { signer }: ExecutorSettings,
  judge: Judge,
  runner: Runner,
): Promise<StepVerdict> {
  try {
    return await judge(result, signer);
  } catch (error) {
    runner.fail(error);
    return 'invalid';
  }
}

async function open(
  inputs: RunInputs,
  step: Step,
): Promise<{ settings: ExecutorSettings; warning: string | undefined }> {
  const { runner, stdout, environment, literals } = step;
  const job = jobOf(inputs, environment);
  const directory = environment.GITHUB_WORKSPACE || process.cwd();
  const policy = await findPolicy(inputs.policy && resolve(directory, inputs.policy), directory);
  runner.redact = redactorFor(literals, environment, policy);
  refuseSecretName('artifact-name', job.artifactName, runner.redact);
  const { signer, hmacKey, warning, programsDirectory } = await keysFor(inputs, environment);
  const settings = openExecutor({
    environment,
    signer,
    hmacKey,
    store: job.store,
    task: job.task,
    literals,
    closeTask: false,
    policy,
    programsDirectory,
    console: { stdout, stderr: consoleStream(2) },
    notify: (message) => runner.warning(message),
    ...(job.matrixKey !== undefined && { matrixKey: job.matrixKey }),
  });
  runner.state({ task: job.task, store: job.store });
  return { settings, warning };
}

function requestOf(inputs: RunInputs, { environment, literals }: Step): AttemptRequest {
  return {
    program: inputs.program,
    cwd: cwdOf(inputs.workingDirectory, environment),
    step: inputs.step,
    environment: Object.entries(environment) as Array<[string, string]>,
    literals,
    timeoutMs: inputs.timeoutMs,
    killAfterMs: KILL_AFTER_MS,
    graceMs: GRACE_MS,
  };
}

function report(result: AttemptResult, verdict: StepVerdict, runner: Runner): void {
  const { termination, storeError, sealed, exitCode, next } = result;
  if (sealed)
    runner.info(`Command Receipts: ${describeTermination(termination)}, receipt ${result.receiptId} (${verdict})`);
  if (storeError) runner.fail(storeError);
  if (termination.kind === 'refused' || termination.kind === 'start-failed') {
    const { code, message } = termination;
    runner.fail(new ReceiptsError(code as ReceiptsError['code'], message, next === undefined ? {} : { next }));
  } else if (exitCode !== 0) {
    const how = termination.kind === 'exited' ? '' : ` (${describeTermination(termination)})`;
    runner.error(`Process completed with exit code ${exitCode}${how}.`);
  }
  if (verdict === 'invalid')
    runner.error('the receipt does not hold when it is read back: the store was changed while the step ran');
}

function outputsOf({ receiptId, sealed, exitCode, termination }: AttemptResult, verdict: StepVerdict) {
  return {
    'receipt-id': sealed ? receiptId : '',
    'receipt-path': sealed?.path ?? '',
    'exit-code': String(exitCode),
    termination: termination.kind,
    verdict,
  };
}

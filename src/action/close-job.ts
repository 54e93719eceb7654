import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ReceiptsError } from '../contract/index.ts';
import { recoverTask, type Signer, TaskStore, taskDirectoryName } from '../evidence/index.ts';
import { overWritable, platformLocks } from '../executor/index.ts';
import { createRedactor } from '../redact/index.ts';
import { readJobInputs } from './inputs.ts';
import { jobOf } from './job.ts';
import { keysFor, takeOutSecrets } from './keys.ts';
import { type ClosedTask, publish } from './publish.ts';
import { LineAwareConsole, Runner } from './runner.ts';

interface Task {
  readonly id: string;
  readonly store: string;
  readonly directoryName: string;
}

/**
 * The post step. Post steps run in the reverse order of their steps, all after the last of them: the first one sees every
 * attempt of the job, closes the task and uploads; the others find nothing to do. It never fails the job.
 */
export async function closeJob(variables: NodeJS.ProcessEnv): Promise<void> {
  // The artifact client writes to the same stream.
  const stdout = new LineAwareConsole(overWritable(process.stdout));
  const runner = new Runner(variables, stdout);
  try {
    await closeAndPublish(variables, runner);
  } catch (error) {
    runner.warning(`the task could not be closed: ${describe(error)}`);
  }
  await stdout.flush();
}

async function closeAndPublish(variables: NodeJS.ProcessEnv, runner: Runner): Promise<void> {
  const task = taskOf(variables);
  if (task === undefined) return runner.info('Command Receipts: the step left nothing to close');
  const read = await readJobInputs(variables);
  const environment = takeOutSecrets(variables);
  if (!read.ok) throw read.faults[0] ?? new ReceiptsError('INTERNAL', 'the inputs could not be read');
  const { inputs } = read;
  const literals = inputs.secrets.map((value, index) => ({ name: `secret input ${index + 1}`, value }));
  runner.redact = (text) => createRedactor({ literals }).text(text);
  runner.mask(inputs.secrets);
  const { signer } = await keysFor(inputs, environment);
  const closed = closeTask(task, signer, runner);
  const { artifactName } = jobOf(inputs, environment);
  await publish({ ...task, ...closed, artifactName, inputs, environment, runner });
}

/** What the step saved; a step that got no further than its inputs saved nothing. */
function taskOf(environment: NodeJS.ProcessEnv): Task | undefined {
  const { STATE_task: id, STATE_store: store } = environment;
  if (!id || !store) return undefined;
  const directoryName = taskDirectoryName(id);
  return existsSync(join(store, directoryName)) ? { id, store, directoryName } : undefined;
}

/** Issues receipts for attempts whose process is gone, closes the chain and signs its head. */
function closeTask(task: Task, signer: Signer, runner: Runner): ClosedTask {
  const locks = platformLocks();
  const recovered = recoverTask(task.directoryName, { store: task.store, signer, locks });
  for (const { receiptId, outcome, missingStage } of recovered)
    runner.warning(
      `attempt ${receiptId}: ${outcome}${missingStage === undefined ? '' : `, first missing ${missingStage}`}`,
    );
  const opened = new TaskStore({ store: task.store, taskId: task.id, signer, locks, closedIsFine: true });
  try {
    const running = recovered.some(({ outcome }) => outcome === 'still-running');
    if (running) runner.warning('a command of this task is still running: the task stays open, and verify will say so');
    else if (!opened.journal.state.closed) opened.close();
    const { closed, sealedCount } = opened.journal.state;
    return { state: closed ? 'closed' : 'open', receipts: sealedCount, recovered: recovered.length };
  } finally {
    opened.dispose();
  }
}

function describe(error: unknown): string {
  if (!(error instanceof ReceiptsError)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { code, message, where, next } = error;
  return [`${code}: ${message}`, where && `at ${where}`, next].filter(Boolean).join('\n');
}

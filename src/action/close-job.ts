import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asReceiptsError, describeExposure, errorLines, ReceiptsError, taskDirectoryName } from '../contract/index.ts';
import { recoverTask, type Signer, TaskStore } from '../evidence/index.ts';
import { overWritable, platformLocks } from '../executor/index.ts';
import type { ProtectionReport } from '../launch/index.ts';
import { InputFields } from './fields.ts';
import { readJobInputs, secretInputs } from './inputs.ts';
import { jobOf } from './job.ts';
import { keysFor, takeOutSecrets } from './keys.ts';
import { type ClosedTask, publish } from './publish.ts';
import { literalsOf, redactorFor } from './redaction.ts';
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
export async function closeJob(variables: NodeJS.ProcessEnv, protection: ProtectionReport): Promise<void> {
  // The artifact client writes to the same stream.
  const stdout = new LineAwareConsole(overWritable(process.stdout));
  const literals = literalsOf(secretInputs(new InputFields(variables)));
  const runner = new Runner(variables, stdout, redactorFor(literals, variables, undefined));
  try {
    await closeAndPublish(variables, runner, protection);
  } catch (error) {
    const known = asReceiptsError(error);
    runner.warning(`the task could not be closed: ${known.code}: ${errorLines(known).join('\n')}`);
  }
  await stdout.flush();
}

async function closeAndPublish(
  variables: NodeJS.ProcessEnv,
  runner: Runner,
  protection: ProtectionReport,
): Promise<void> {
  const task = taskOf(variables);
  if (task === undefined) return runner.info('Command Receipts: the step left nothing to close');
  const read = await readJobInputs(variables);
  const environment = takeOutSecrets(variables);
  if (!read.ok) throw read.faults[0] ?? new ReceiptsError('INTERNAL', 'the inputs could not be read');
  const { inputs } = read;
  const exposure = describeExposure(protection);
  if (exposure !== undefined) runner.warning(exposure);
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

import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { canonicalText, errnoOf, ReceiptsError, sha256 } from '../contract/index.ts';
import { storeLocation } from '../evidence/index.ts';
import { type AttemptRequest, workspaceOf } from '../executor/index.ts';
import type { JobInputs } from './inputs.ts';

/** What all uses of the action in one job have in common. */
export interface Job {
  readonly task: string;
  readonly store: string;
  readonly artifactName: string;
  /** The matrix in canonical JSON; undefined for a job without one. */
  readonly matrixKey: string | undefined;
}

export function jobOf(inputs: JobInputs, environment: NodeJS.ProcessEnv): Job {
  const known = (name: string): string => environment[name] || 'unknown';
  const matrixKey = inputs.matrix === null ? undefined : canonicalText(inputs.matrix);
  const digest = matrixKey === undefined ? [] : [sha256(matrixKey).toString('hex').slice(0, 12)];
  const [job, attempt] = [known('GITHUB_JOB'), known('GITHUB_RUN_ATTEMPT')];
  const run = ['github', known('GITHUB_REPOSITORY_ID'), known('GITHUB_RUN_ID'), attempt, job];
  const directory = environment.GITHUB_WORKSPACE || process.cwd();
  return {
    task: inputs.task ?? [...run, ...digest].join('/'),
    store: storeLocation({ store: inputs.store, directory, environment }),
    artifactName: inputs.artifactName ?? ['receipts', job, ...digest, attempt].join('-'),
    matrixKey,
  };
}

/** The command's directory, as `working-directory` of a `run:` step has it: relative to the workspace. */
export function cwdOf(requested: string, environment: NodeJS.ProcessEnv): AttemptRequest['cwd'] {
  const given = environment.GITHUB_WORKSPACE || process.cwd();
  const workspace = existingWorkspace(given, environment);
  if (!isAbsolute(requested)) return { workspace, requested };
  // The runner names the workspace by a path that may lead through links; what lies below it is told apart as text.
  const below = relative(resolve(given), requested);
  return { workspace, requested: below.startsWith('..') || isAbsolute(below) ? requested : below || '.' };
}

function existingWorkspace(given: string, environment: NodeJS.ProcessEnv): string {
  try {
    return environment.GITHUB_ACTIONS === 'true' ? workspaceOf(given, environment) : realpathSync(given);
  } catch (error) {
    throw new ReceiptsError('CWD_NOT_FOUND', `the workspace cannot be opened (${errnoOf(error) ?? 'unknown'})`, {
      where: given,
      next: 'Check the repository out first, with actions/checkout.',
      cause: error,
    });
  }
}

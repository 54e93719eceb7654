import { readFileSync } from 'node:fs';
import type { Context, Gap } from '../contract/index.ts';

export interface ContextFacts {
  readonly context: Context;
  readonly gaps: readonly Gap[];
}

/** Where the command runs, as the platform says it: what stops a receipt from being shown for another run. */
export function contextFrom(environment: NodeJS.ProcessEnv, matrixKey?: string): ContextFacts {
  if (environment.GITHUB_ACTIONS !== 'true') return { context: { kind: 'local' }, gaps: [] };
  const context = {
    kind: 'github-actions' as const,
    repository: known(environment.GITHUB_REPOSITORY),
    repositoryId: known(environment.GITHUB_REPOSITORY_ID),
    headSha: headSha(environment),
    sha: known(environment.GITHUB_SHA),
    ref: known(environment.GITHUB_REF),
    event: known(environment.GITHUB_EVENT_NAME),
    runId: known(environment.GITHUB_RUN_ID),
    runAttempt: known(environment.GITHUB_RUN_ATTEMPT),
    job: known(environment.GITHUB_JOB),
    workflowRef: known(environment.GITHUB_WORKFLOW_REF),
    workflowSha: known(environment.GITHUB_WORKFLOW_SHA),
    runnerEnvironment: known(environment.RUNNER_ENVIRONMENT),
  };
  const gaps = Object.entries(context)
    .filter(([, value]) => value === null)
    .map(([field]) => ({ field: `/context/${field}`, reason: 'context-unknown' as const }));
  return { context: matrixKey === undefined ? context : { ...context, matrixKey }, gaps };
}

/** The commit that was pushed: for a pull request not GITHUB_SHA, which is the merge commit. */
function headSha(environment: NodeJS.ProcessEnv): string | null {
  const event = readEvent(environment.GITHUB_EVENT_PATH);
  const candidates = [
    pick(event, ['pull_request', 'head', 'sha']),
    pick(event, ['workflow_run', 'head_sha']),
    pick(event, ['merge_group', 'head_sha']),
    environment.GITHUB_SHA,
  ];
  return known(candidates.find((candidate) => typeof candidate === 'string' && candidate !== '') as string | undefined);
}

function readEvent(path: string | undefined): unknown {
  if (!path) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function pick(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[name];
  }
  return current;
}

function known(value: string | undefined): string | null {
  return value === undefined || value === '' ? null : value;
}

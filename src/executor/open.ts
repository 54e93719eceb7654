import { readFileSync, realpathSync } from 'node:fs';
import { v7 as uuidv7 } from 'uuid';
import { ReceiptsError } from '../contract/index.ts';
import {
  flockLocks,
  gitTop,
  type HmacKey,
  type Locks,
  pidFileLocks,
  type Signer,
  TaskStore,
} from '../evidence/index.ts';
import { type Launcher, lockFile, protectProcess, selectLauncher } from '../launch/index.ts';
import { type Policy, planEnvironment } from '../policy/index.ts';
import { createRedactor, type Literal } from '../redact/index.ts';
import type { ConsoleStream } from './console.ts';
import { contextFrom } from './context.ts';
import { executorIdentity } from './identity.ts';
import type { ExecutorSettings } from './plan.ts';

export interface OpenOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly signer: Signer;
  readonly hmacKey: HmacKey;
  readonly store: string;
  /** Undefined: each run is a task of its own, closed when it ends. */
  readonly task: string | undefined;
  /** Closes a named task too. */
  readonly closeTask?: boolean;
  readonly policy: Policy;
  readonly programsDirectory: string;
  readonly console: { readonly stdout: ConsoleStream; readonly stderr: ConsoleStream };
  readonly notify: (message: string) => void;
  readonly matrixKey?: string;
  /** Secrets beside those in the environment. */
  readonly literals?: readonly Literal[];
}

/** Everything that a command needs before it can be asked for: launcher, store, task, keys, policy. */
export function openExecutor(options: OpenOptions): ExecutorSettings {
  const { environment, signer, hmacKey, store, policy, programsDirectory, notify } = options;
  if (options.task !== undefined) refuseSecretTask(options.task, options);
  const launcher = launcherFor(environment);
  const task = new TaskStore({
    store,
    signer,
    locks: platformLocks(),
    taskId: options.task ?? uuidv7(),
    automatic: options.task === undefined,
  });
  return {
    launcher,
    signer,
    hmacKey,
    task,
    policy,
    programsDirectory,
    notify,
    context: contextFrom(environment, options.matrixKey),
    identity: executorIdentity(signer, launcher.kind),
    console: options.console,
    masks: environment.GITHUB_ACTIONS === 'true' ? 'runner' : 'none',
    bootId: bootId(),
    protection: protectProcess(),
    closeTask: options.closeTask ?? options.task === undefined,
    cancelMs: environment.GITHUB_ACTIONS === 'true' ? CANCEL_MS : undefined,
  };
}

/** A task's id is what people close and find it by: it is stored as it is, so it may hold nothing that would be masked. */
function refuseSecretTask(task: string, { environment, policy, literals = [] }: OpenOptions): void {
  const { secrets } = planEnvironment(
    Object.entries(environment) as Array<[string, string]>,
    policy.document.environment,
  );
  if (createRedactor({ literals: [...literals, ...secrets] }).text(task) === task) return;
  throw new ReceiptsError('USAGE', 'the task id holds a secret: the value of a secret variable or input, or a token', {
    next: 'Choose a name that may be seen by everyone.',
  });
}

/**
 * A cancelling runner sends SIGINT, after 7.5 s SIGTERM and after 2.5 s more SIGKILL: what still runs then is ended early
 * enough to seal its receipt.
 */
const CANCEL_MS = 8500;

/** `COMMAND_RECEIPTS_LAUNCHER=portable` gives up binding on purpose, so that the portable launcher can be tested anywhere. */
function launcherFor(environment: NodeJS.ProcessEnv): Launcher {
  return selectLauncher({ portable: environment.COMMAND_RECEIPTS_LAUNCHER === 'portable' });
}

export function platformLocks(): Locks {
  return lockFile === undefined ? pidFileLocks() : flockLocks(lockFile);
}

/** The directory that the command's directory may not leave. */
export function workspaceOf(directory: string, environment: NodeJS.ProcessEnv): string {
  const given = environment.GITHUB_ACTIONS === 'true' ? environment.GITHUB_WORKSPACE : undefined;
  return realpathSync(given || (gitTop(directory) ?? directory));
}

function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}

import { relative, resolve } from 'node:path';
import { describeTermination, errnoOf, ReceiptsError } from '../contract/index.ts';
import { homeFrom, localKeys, storeLocation } from '../evidence/index.ts';
import {
  type AttemptRequest,
  type AttemptResult,
  consoleStream,
  type ExecutorSettings,
  findPolicy,
  openExecutor,
  runAttempt,
  workspaceOf,
} from '../executor/index.ts';
import { assertUnobserved, type ProtectionReport } from '../launch/index.ts';
import { parseDuration } from '../policy/index.ts';
import { printError, printJson, say } from './output.ts';

interface RunOptions {
  readonly shell?: string;
  readonly shellProgram: string;
  readonly step?: string;
  readonly task?: string;
  readonly store?: string;
  readonly cwd: string;
  readonly workspace?: string;
  readonly timeout?: string;
  readonly killAfter: string;
  readonly grace: string;
  readonly policy?: string;
  readonly quiet?: true;
  readonly json?: true;
}

/** `receipts run`: returns the exit code. */
export async function run(words: string[], options: RunOptions, _protection?: ProtectionReport): Promise<number> {
  const program = programOf(words, options);
  const directory = currentDirectory();
  const environment = process.env;
  const request: Omit<AttemptRequest, 'cwd'> = {
    program,
    step: label('--step', options.step),
    environment: Object.entries(environment) as Array<[string, string]>,
    literals: [],
    timeoutMs: options.timeout === undefined ? undefined : duration('--timeout', options.timeout),
    killAfterMs: duration('--kill-after', options.killAfter),
    graceMs: duration('--grace', options.grace),
  };
  const task = label('--task', options.task);
  const policy = await findPolicy(options.policy, directory);
  const home = homeFrom(environment);
  const { signer, hmacKey, created } = await localKeys(home, { guard: assertUnobserved });
  const shown = consoleStream(2);
  const settings = openExecutor({
    environment,
    signer,
    hmacKey,
    store: storeLocation({ store: options.store, directory, environment }),
    task,
    policy,
    programsDirectory: home.programsDirectory,
    console: { stdout: options.json ? shown : consoleStream(1), stderr: shown },
    notify: say,
  });
  const result = await runAttempt({ ...request, cwd: cwdOf(options, directory) }, settings);
  await Promise.all([settings.console.stdout.flush(), settings.console.stderr.flush()]);
  report(result, settings, options, created ? home.directory : undefined);
  settings.task.dispose();
  return result.exitCode;
}

function programOf(words: string[], options: RunOptions): AttemptRequest['program'] {
  if (options.shell === undefined) {
    if (words.length === 0)
      throw new ReceiptsError('USAGE', 'no command was given', {
        next: "Write: receipts run -- COMMAND [ARG...], or: receipts run --shell 'TEXT'",
      });
    return { mode: 'argv', argv: words };
  }
  if (words.length > 0)
    throw new ReceiptsError('USAGE', 'both --shell and an argument vector were given', {
      next: 'Leave one of them out.',
    });
  const [shell, ...args] = options.shellProgram.trim().split(/\s+/);
  if (!shell || !args.includes('{0}'))
    throw new ReceiptsError('USAGE', '--shell-program needs a program and {0} in the place of the script', {
      next: "For example: --shell-program 'bash -eo pipefail {0}'",
    });
  return { mode: 'shell', shell, args, text: options.shell };
}

function cwdOf(options: RunOptions, directory: string): AttemptRequest['cwd'] {
  const workspace =
    options.workspace === undefined ? workspaceOf(directory, process.env) : resolve(directory, options.workspace);
  if (options.cwd.startsWith('/')) return { workspace, requested: options.cwd };
  // Joined as text, not normalized: `..` behind a symbolic link means what the kernel says.
  const below = relative(workspace, directory);
  return { workspace, requested: below === '' ? options.cwd : `${below}/${options.cwd}` };
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new ReceiptsError('CWD_NOT_FOUND', `the current directory cannot be read (${errnoOf(error) ?? 'unknown'})`, {
      next: 'Change to a directory that exists.',
      cause: error,
    });
  }
}

function duration(option: string, text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined)
    throw new ReceiptsError('USAGE', `${option} ${text}: not a duration`, {
      next: 'Write it like 90s, 10m or 2h (at most 24 days).',
    });
  return milliseconds;
}

function label(option: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (text === '' || Buffer.byteLength(text) > 256 || /[\0-\x1f\x7f]/.test(text))
    throw new ReceiptsError('USAGE', `${option} takes 1 to 256 bytes without control characters`, {
      next: 'Choose a shorter, printable name.',
    });
  return text;
}

function report(
  result: AttemptResult,
  settings: ExecutorSettings,
  options: RunOptions,
  newHome: string | undefined,
): void {
  const { termination, sealed, storeError, next } = result;
  if (storeError) {
    say(
      sealed
        ? 'the output could not be stored: the receipt says EVIDENCE_BLOCKED'
        : 'the receipt could not be stored; `receipts recover` may still issue one',
    );
    printError(storeError);
  }
  if ((termination.kind === 'refused' || termination.kind === 'start-failed') && !options.json)
    printError(
      new ReceiptsError(
        termination.code as ReceiptsError['code'],
        termination.message,
        next === undefined ? {} : { next },
      ),
    );
  if (options.json) printJson(jsonOf(result, settings));
  if (options.quiet || options.json) return;
  if (newHome)
    say(`made a signing key in ${newHome}; commands that you run can read it (custody: reachable-by-command)`);
  const place = relative(process.cwd(), result.taskDirectory) || '.';
  const shorter = place.startsWith('..') ? result.taskDirectory : place;
  if (sealed)
    say(
      `${describeTermination(termination)} · receipt ${result.receiptId} · policy ${settings.policy.name}\nreceipts: receipts verify ${shorter}`,
    );
}

function jsonOf(result: AttemptResult, settings: ExecutorSettings) {
  const { receiptId, taskId, taskDirectory, termination, exitCode, sealed, storeError } = result;
  return {
    schema: 'command-receipts.run.v1',
    receiptId,
    taskId,
    taskDirectory,
    receiptPath: sealed?.path ?? null,
    receiptDigest: sealed?.digest ?? null,
    termination,
    exitCode,
    flags: sealed?.receipt.evidence.flags ?? null,
    policy: { name: settings.policy.name, digest: settings.policy.digest },
    signer: { keyId: settings.signer.keyId, custody: settings.signer.custody },
    error: storeError ? { code: storeError.code, message: storeError.message, where: storeError.where ?? null } : null,
  };
}

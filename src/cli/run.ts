import { relative, resolve } from 'node:path';
import { isLabel, LABEL_FORM, ReceiptsError } from '../contract/index.ts';
import { homeFrom, storeLocation } from '../evidence/index.ts';
import {
  type AttemptRequest,
  consoleStream,
  findPolicy,
  openExecutor,
  runAttempt,
  workspaceOf,
} from '../executor/index.ts';
import type { ProtectionReport } from '../launch/index.ts';
import { parseDuration } from '../policy/index.ts';
import { currentDirectory } from './current-directory.ts';
import { refuseReplacedBytes } from './given-words.ts';
import { signingKeys } from './keys.ts';
import { say } from './output.ts';
import { redactorFor, redactWith } from './redaction.ts';
import { reportRun } from './run-report.ts';

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
export async function run(words: string[], options: RunOptions, protection?: ProtectionReport): Promise<number> {
  refuseReplacedBytes(process.argv);
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
  redactWith(redactorFor(policy));
  const home = homeFrom(environment);
  const { signer, hmacKey, created } = await signingKeys(home, protection, options.quiet);
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
  redactWith(result.redact);
  const { quiet = false, json = false } = options;
  reportRun({ result, settings, directory, protection, newHome: created ? home.directory : undefined, quiet, json });
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

function duration(option: string, text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined)
    throw new ReceiptsError('USAGE', `${option} ${text}: not a duration`, {
      next: 'Write it like 90s, 10m or 2h (at most 24 days).',
    });
  return milliseconds;
}

function label(option: string, text: string | undefined): string | undefined {
  if (text === undefined || isLabel(text)) return text;
  throw new ReceiptsError('USAGE', `${option} takes ${LABEL_FORM}`, { next: 'Choose a shorter, printable name.' });
}

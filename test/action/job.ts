import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunnerLog, readAsRunner } from './runner-log.ts';

export const DIST = process.env.COMMAND_RECEIPTS_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));

export interface StepResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly log: RunnerLog;
  readonly outputs: Readonly<Record<string, string>>;
  readonly state: Readonly<Record<string, string>>;
  readonly summary: string;
}

export interface StepOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Sends a signal to the process as soon as its stdout has shown the text. */
  readonly interrupt?: { readonly shown: string; readonly signal: NodeJS.Signals };
}

/** One job as the runner sets it up: a workspace, a temporary directory, and per step its environment and files. */
export class Job {
  readonly root = mkdtempSync(join(tmpdir(), 'receipts-job-'));
  readonly workspace = join(this.root, 'work', 'repo', 'repo');
  readonly temporary = join(this.root, 'work', '_temp');
  readonly home = join(this.root, 'home');
  readonly environment: Record<string, string>;
  readonly outputs: StepResult[] = [];
  readonly #steps: Array<{
    inputs: Record<string, string>;
    state: Readonly<Record<string, string>>;
    options: StepOptions;
  }> = [];
  #count = 0;

  constructor(extra: Record<string, string> = {}) {
    for (const directory of [this.workspace, this.temporary, this.home]) mkdirSync(directory, { recursive: true });
    const event = join(this.root, 'event.json');
    writeFileSync(event, JSON.stringify({ pull_request: { head: { sha: 'a'.repeat(40) } } }));
    this.environment = {
      ...jobEnvironment(),
      HOME: this.home,
      RUNNER_TEMP: this.temporary,
      GITHUB_WORKSPACE: this.workspace,
      GITHUB_EVENT_PATH: event,
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      ...extra,
    };
  }

  get store(): string {
    return join(this.temporary, 'command-receipts');
  }

  /** Runs `main`; its post step is queued as the runner does, whatever the result. */
  async step(inputs: Record<string, string>, options: StepOptions = {}): Promise<StepResult> {
    const result = await this.#node('index.js', withDefaults(inputs), {}, options);
    this.#steps.push({ inputs: withDefaults(inputs), state: result.state, options });
    return result;
  }

  /** Runs the post steps, the last step's first. */
  async post(options: StepOptions = {}): Promise<StepResult[]> {
    const results: StepResult[] = [];
    for (const step of this.#steps.reverse()) {
      const state = Object.fromEntries(Object.entries(step.state).map(([name, value]) => [`STATE_${name}`, value]));
      results.push(await this.#node('post.js', step.inputs, state, options));
    }
    return results;
  }

  dispose(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  async #node(
    script: string,
    inputs: Record<string, string>,
    state: Record<string, string>,
    options: StepOptions,
  ): Promise<StepResult> {
    const files = this.#fileCommands();
    const named = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
    const environment = {
      ...this.environment,
      ...Object.fromEntries(named),
      ...state,
      ...files,
      ...options.environment,
    };
    // The runner starts actions in the workspace.
    const child = spawn(process.execPath, [join(DIST, script)], { cwd: this.workspace, env: environment });
    const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    const { interrupt } = options;
    child.stdout.on('data', (chunk: Buffer) => {
      const before = Buffer.concat(chunks.stdout).includes(interrupt?.shown ?? '');
      chunks.stdout.push(chunk);
      if (interrupt && !before && Buffer.concat(chunks.stdout).includes(interrupt.shown)) child.kill(interrupt.signal);
    });
    child.stderr.on('data', (chunk: Buffer) => chunks.stderr.push(chunk));
    child.stdin.end();
    const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
    const [stdout, stderr] = [
      Buffer.concat(chunks.stdout).toString('utf8'),
      Buffer.concat(chunks.stderr).toString('utf8'),
    ];
    const result = {
      exitCode,
      stdout,
      stderr,
      log: readAsRunner(stdout),
      outputs: keyValues(files.GITHUB_OUTPUT),
      state: keyValues(files.GITHUB_STATE),
      summary: readFileSync(files.GITHUB_STEP_SUMMARY ?? '', 'utf8'),
    };
    this.outputs.push(result);
    return result;
  }

  #fileCommands(): Record<string, string> {
    const directory = join(this.temporary, '_runner_file_commands');
    mkdirSync(directory, { recursive: true });
    this.#count++;
    const files = ['OUTPUT', 'STATE', 'STEP_SUMMARY', 'ENV', 'PATH'].map((name) => {
      const path = join(directory, `${name.toLowerCase()}_${this.#count}`);
      writeFileSync(path, '');
      return [`GITHUB_${name}`, path];
    });
    return Object.fromEntries(files) as Record<string, string>;
  }
}

/** What action.yml gives to inputs that were not set. */
function withDefaults(inputs: Record<string, string>): Record<string, string> {
  return { mode: 'run', 'working-directory': '.', matrix: 'null', upload: 'true', ...inputs };
}

function jobEnvironment(): Record<string, string> {
  return {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'octo/demo',
    GITHUB_REPOSITORY_ID: '4711',
    GITHUB_REPOSITORY_OWNER: 'octo',
    GITHUB_RUN_ID: '1658821493',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_RUN_NUMBER: '7',
    GITHUB_JOB: 'build',
    GITHUB_ACTION: '__octo_command-receipts',
    GITHUB_SHA: 'b'.repeat(40),
    GITHUB_REF: 'refs/pull/3/merge',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_API_URL: 'https://api.github.com',
    GITHUB_WORKFLOW_REF: 'octo/demo/.github/workflows/ci.yml@refs/pull/3/merge',
    GITHUB_WORKFLOW_SHA: 'c'.repeat(40),
    RUNNER_ENVIRONMENT: 'github-hosted',
    RUNNER_OS: 'Linux',
    RUNNER_ARCH: 'X64',
    LANG: 'C.UTF-8',
  };
}

function keyValues(path: string | undefined): Record<string, string> {
  const text = readFileSync(path ?? '', 'utf8');
  const pairs = [...text.matchAll(/^([^=\n]+?)<<(ghadelimiter_[0-9a-f-]+)\n([\s\S]*?)\n?\2\n/gm)];
  return Object.fromEntries(pairs.map(([, name = '', , value = '']) => [name, value]));
}

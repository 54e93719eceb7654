import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StartedReceipt } from '../../src/contract/index.ts';
import type { Verification } from '../../src/verify/index.ts';

/** The built program, as users run it. */
const DIST = process.env.COMMAND_RECEIPTS_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
export const CLI = join(DIST, 'cli.js');

export interface Place {
  readonly directory: string;
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  receipts(
    args: readonly string[],
    options?: { input?: string; env?: NodeJS.ProcessEnv; cwd?: string },
  ): SpawnSyncReturns<string>;
  /** Runs a command and reads what was sealed. */
  run(
    args: readonly string[],
    options?: { env?: NodeJS.ProcessEnv },
  ): { code: number | null; stderr: string; receipt: StartedReceipt; taskDirectory: string };
  verify(args?: readonly string[]): { code: number | null; verification: Verification };
}

/** An empty directory with a home of its own. */
export function place(): Place {
  const directory = mkdtempSync(join(tmpdir(), 'receipts-cli-'));
  const home = join(directory, 'home');
  const { GITHUB_ACTIONS: _a, RUNNER_TEMP: _r, ...rest } = process.env;
  const environment = { ...rest, COMMAND_RECEIPTS_HOME: home };
  const receipts: Place['receipts'] = (args, options = {}) =>
    spawnSync(process.execPath, [CLI, ...args], {
      cwd: options.cwd ?? directory,
      env: { ...environment, ...options.env },
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      ...(options.input !== undefined && { input: options.input }),
    });
  return {
    directory,
    home,
    environment,
    receipts,
    run(args, options) {
      const { status, stdout, stderr } = receipts(['run', '--json', ...args], options);
      const result = JSON.parse(stdout);
      const envelope = JSON.parse(readFileSync(result.receiptPath, 'utf8'));
      const receipt = JSON.parse(Buffer.from(envelope.payload, 'base64').toString('utf8'));
      return { code: status, stderr, receipt, taskDirectory: result.taskDirectory };
    },
    verify(args = []) {
      const { status, stdout } = receipts(['verify', '--json', ...args]);
      return { code: status, verification: JSON.parse(stdout) };
    },
  };
}

/** Every file below a directory, with its bytes. */
export function filesBelow(directory: string): Array<{ path: string; bytes: Buffer }> {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      return { path, bytes: readFileSync(path) };
    });
}

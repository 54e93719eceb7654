import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import type { BindingMethod } from '../../src/contract/index.ts';
import {
  type BindFailed,
  type BindRequest,
  type Bound,
  type ByteSource,
  type Exit,
  type Launcher,
  type Running,
  selectLauncher,
} from '../../src/launch/index.ts';

export const linux = selectLauncher();
export const portable = selectLauncher({ portable: true });
export const DEFAULT_ORDER: readonly BindingMethod[] = ['lease', 'cas-lease', 'memfd', 'none'];

const made: string[] = [];
afterAll(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** A directory of the test file's own; the default lies on the disk, `/dev/shm` is a tmpfs. */
export function workspace(under = tmpdir()): string {
  const directory = mkdtempSync(join(under, 'launch-test-'));
  chmodSync(directory, 0o755);
  made.push(directory);
  return directory;
}

export function executable(directory: string, name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content, { mode: 0o755 });
  chmodSync(path, 0o755);
  return path;
}

export interface Options {
  readonly launcher?: Launcher;
  readonly workspace?: string;
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly order?: readonly BindingMethod[];
  readonly programsDirectory?: string;
}

export function request(program: readonly string[] | BindRequest['program'], options: Options = {}): BindRequest {
  const root = options.workspace ?? tmpdir();
  const environment = options.environment ?? { PATH: process.env.PATH ?? '', HOME: '/' };
  return {
    program: 'mode' in program ? program : { mode: 'argv', argv: program },
    cwd: { workspace: root, requested: options.cwd ?? '.' },
    environment: Object.entries(environment),
    bindingOrder: options.order ?? DEFAULT_ORDER,
    programsDirectory: options.programsDirectory ?? join(root, '.programs'),
  };
}

export async function bind(program: readonly string[] | BindRequest['program'], options: Options = {}): Promise<Bound> {
  const outcome = await (options.launcher ?? linux).bind(request(program, options));
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome;
}

export async function bindFailure(
  program: readonly string[] | BindRequest['program'],
  options: Options = {},
): Promise<BindFailed> {
  const outcome = await (options.launcher ?? linux).bind(request(program, options));
  if (outcome.ok) throw new Error('it was bound');
  return outcome;
}

export interface Ended {
  readonly exit: Exit;
  readonly stdout: string;
  readonly stderr: string;
  readonly flags: readonly string[];
  readonly gaps: readonly string[];
  readonly facts: Bound['facts'];
  readonly running: Running;
}

export async function run(program: readonly string[] | BindRequest['program'], options: Options = {}): Promise<Ended> {
  const bound = await bind(program, options);
  try {
    return await finishRun(bound, bound.start({}));
  } finally {
    bound.release();
  }
}

/** Reads both streams to their end. */
export async function finishRun(bound: Bound, running: Running): Promise<Ended> {
  const [stdout, stderr, exit] = await Promise.all([readAll(running.stdout), readAll(running.stderr), running.exit]);
  const { flags, gaps } = running.finish();
  return { exit, stdout, stderr, flags, gaps: gaps.map((gap) => gap.reason), facts: bound.facts, running };
}

export function readAll(source: ByteSource): Promise<string> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    source.start({
      data: (bytes) => chunks.push(Buffer.from(bytes)) > 0,
      end: (how, error) => (how === 'eof' ? resolve(Buffer.concat(chunks).toString()) : reject(error)),
    });
  });
}

export async function until(condition: () => boolean, limitMs = 10_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!condition()) {
    if (Date.now() > end) throw new Error('it did not come about in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const FIXTURES = join(dirname(import.meta.dirname), 'fixtures', 'launch');

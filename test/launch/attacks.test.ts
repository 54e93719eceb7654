import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BindingMethod } from '../../src/contract/index.ts';
import type { StartOptions } from '../../src/launch/index.ts';
import { bind, type Ended, executable, finishRun, run, until, workspace } from './harness.ts';

/** Every attack of the design that can be played on this machine; none may end in a clean receipt over other bytes. */

function copyOf(program: string, directory: string, name = 'program'): string {
  const path = join(directory, name);
  copyFileSync(program, path);
  chmodSync(path, 0o755);
  return path;
}

/** In a process of its own: a writer that breaks a lease waits in the kernel until we let go. */
function shell(line: string): { done: Promise<number | null>; end(): void } {
  const child = spawn('/bin/sh', ['-c', line], { stdio: 'ignore' });
  return { done: new Promise((resolve) => child.on('close', resolve)), end: () => void child.kill('SIGKILL') };
}

describe.each([
  ['ext4', undefined],
  ['tmpfs', '/dev/shm'],
])('between bind and start, on %s', (_, under) => {
  test.each<BindingMethod>(['lease', 'cas-lease', 'memfd', 'none'])(
    'renamed over: the old inode runs (%s)',
    async (method) => {
      const root = workspace(under);
      copyOf('/bin/echo', root);
      const bound = await bind(['./program', 'the one bound'], { workspace: root, order: [method] });
      renameSync(executable(root, 'evil', '#!/bin/sh\necho evil\n'), join(root, 'program'));
      const { stdout } = await finishRun(bound, bound.start({}));
      expect(stdout).toBe('the one bound\n');
      bound.release();
    },
  );

  test('rewritten in place: the writer waits, nothing is started', async () => {
    const root = workspace(under);
    const program = copyOf('/bin/true', root);
    const bound = await bind(['./program'], { workspace: root, order: ['lease'] });
    const writer = shell(`printf evil > ${program}`);
    await until(() => someoneWaitsFor(program));
    expect(isChanged(bound.start)).toBe(true);
    bound.release();
    expect(await writer.done).toBe(0);
  });

  test.each<BindingMethod>(['lease', 'none'])(
    'emptied through O_RDONLY | O_TRUNC, which no lease sees (%s)',
    async (method) => {
      const root = workspace(under);
      const program = copyOf('/bin/true', root);
      const bound = await bind(['./program'], { workspace: root, order: [method] });
      closeSync(openSync(program, constants.O_RDONLY | constants.O_TRUNC));
      expect(isChanged(bound.start)).toBe(true);
      bound.release();
    },
  );

  test('a mere chmod is looked at again and lets it run', async () => {
    const root = workspace(under);
    const program = copyOf('/bin/true', root);
    const bound = await bind(['./program'], { workspace: root, order: ['lease'] });
    chmodSync(program, 0o700);
    const { exit, flags } = await finishRun(bound, bound.start({}));
    expect([exit.exitCode, flags]).toEqual([0, []]);
    bound.release();
  });

  test('a copy renamed over in the store is noticed', async () => {
    const root = workspace(under);
    copyOf('/bin/true', root);
    const bound = await bind(['./program'], { workspace: root, order: ['cas-lease'] });
    const copy = join(root, '.programs', bound.facts.executable.sha256 ?? '');
    renameSync(copyOf('/bin/false', root, 'evil'), copy);
    expect(isChanged(bound.start)).toBe(true);
    bound.release();
  });
});

function someoneWaitsFor(path: string): boolean {
  const { ino } = statSync(path);
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .some((line) => line.includes('BREAKING') && line.includes(`:${ino} `));
}

function isChanged(start: (options: StartOptions) => unknown): boolean {
  try {
    start({});
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'BINDING_REFUSED' });
    return true;
  }
}

async function whileRunning(
  content: string,
  attack: (path: string) => { end?(): void } | undefined,
): Promise<Ended & { rebound: string[] }> {
  const root = workspace();
  const path = executable(root, 'script', content);
  const bound = await bind(['./script'], { workspace: root });
  const rebound: string[] = [];
  const running = bound.start({ onRebound: (flag) => rebound.push(flag) });
  const ended = finishRun(bound, running);
  await new Promise((resolve) => setTimeout(resolve, 150));
  const attacker = attack(path);
  const result = await ended;
  bound.release();
  attacker?.end?.();
  return { ...result, rebound };
}

const LONG = '#!/bin/bash\nsleep 20 &\nwait\nexit 1\n';

describe('while it runs', () => {
  test('a writer of the script ends the group at once', async () => {
    const result = await whileRunning(LONG, (path) => shell(`echo evil >> ${path}`));
    expect(result.exit).toMatchObject({ kind: 'signaled', signal: 'SIGKILL' });
    expect(result.rebound).toEqual(['SCRIPT_REBOUND']);
    expect(result.flags).toEqual(['SCRIPT_REBOUND']);
  });

  test('a script cut off by O_TRUNC, which would have exited 0', async () => {
    const result = await whileRunning(LONG, (path) => {
      closeSync(openSync(path, constants.O_RDONLY | constants.O_TRUNC));
      return undefined;
    });
    expect(result.flags).toEqual(['SCRIPT_REBOUND']);
    expect(result.exit.signal).toBe('SIGKILL');
  });

  test('a script renamed over, though the interpreter has it open', async () => {
    const result = await whileRunning('#!/bin/sh\nsleep 0.3\n', (path) => {
      writeFileSync(`${path}.new`, 'evil');
      renameSync(`${path}.new`, path);
      return undefined;
    });
    expect(result.flags).toEqual(['SCRIPT_REBOUND']);
  });

  test('a running ELF refuses writers by itself (ETXTBSY), so the interpreter of a running script stays', async () => {
    const root = workspace();
    const interpreter = copyOf('/bin/bash', root, 'interpreter');
    executable(root, 'script', `#!${interpreter}\nsleep 0.4\n`);
    const bound = await bind(['./script'], { workspace: root });
    const ended = finishRun(bound, bound.start({}));
    for (const flags of [constants.O_WRONLY, constants.O_RDONLY | constants.O_TRUNC]) {
      expect(() => openSync(interpreter, flags)).toThrow(expect.objectContaining({ code: 'ETXTBSY' }));
    }
    const { flags, exit } = await ended;
    expect([flags, exit.exitCode]).toEqual([[], 0]);
    bound.release();
  });
});

describe('a script that changes between bind and start', () => {
  test.each<[string, (path: string, root: string) => void]>([
    [
      'another file under its name',
      (path, root) => renameSync(executable(root, 'evil', '#!/bin/sh\necho evil\n'), path),
    ],
    [
      'a link under its name',
      (path) => {
        rmSync(path);
        symlinkSync('/bin/true', path);
      },
    ],
    ['nothing under its name', (path) => rmSync(path)],
    [
      'its directory swapped',
      (path, root) => {
        renameSync(join(root, 'bin'), join(root, 'was'));
        symlinkSync('was', join(root, 'bin'));
        renameSync(join(root, 'was'), join(root, 'gone'));
        void path;
      },
    ],
  ])('%s blocks the launch', async (_, attack) => {
    const root = workspace();
    await run(['mkdir', 'bin'], { workspace: root });
    const path = executable(join(root, 'bin'), 'script', '#!/bin/sh\necho good\n');
    const bound = await bind(['bin/script'], { workspace: root });
    attack(path, root);
    expect(isChanged(bound.start)).toBe(true);
    bound.release();
  });
});

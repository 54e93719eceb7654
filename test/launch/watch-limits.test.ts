import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, rmdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BindingMethod, ProgramFile } from '../../src/contract/index.ts';
import { drive, driverPath, ORDINARY, type Report } from './driver.ts';
import { bind, bindFailure, executable, finishRun, request, run, workspace } from './harness.ts';

/** Where the watch cannot be put up, or loses sight, nobody may believe that it saw nothing. */

const STRICT: readonly BindingMethod[] = ['fs-verity', 'lease'];

function expectUnbound(report: Report, reason: string): void {
  const facts = report.outcome?.facts as unknown as { executable: ProgramFile; flags: string[]; script: unknown };
  const lease = facts.executable.binding.attempts.find(({ method }) => method === 'lease');
  expect(lease).toMatchObject({ outcome: 'passed-over', reason: expect.stringContaining(reason) });
  expect(facts).toMatchObject({ flags: ['UNBOUND_EXECUTABLE'], script: { mode: 'unbound' } });
  expect(facts.executable.binding.method).toBe('none');
}

describe('what cannot be watched is unbound, or refused', () => {
  test.skipIf(process.getuid?.() !== 0)('a directory on the way that may not be read', async () => {
    const root = workspace();
    const hidden = join(root, 'hidden');
    const own = join(hidden, 'own');
    mkdirSync(own, { recursive: true });
    chmodSync(hidden, 0o711);
    chownSync(own, ORDINARY, ORDINARY);
    chownSync(executable(own, 'script', '#!/bin/sh\necho hi\n'), ORDINARY, ORDINARY);
    const driver = await drive({ request: request(['./script'], { workspace: own }) });
    const report = await driver.report;
    expectUnbound(report, `${JSON.stringify(hidden)} cannot be watched (it may not be read)`);
    expect([report.output, report.finished?.flags]).toEqual(['hi\n', []]);
    const strict = await drive({ request: request(['./script'], { workspace: own, order: STRICT }) });
    const { outcome } = await strict.report;
    expect(outcome).toMatchObject({ ok: false, code: 'BINDING_REFUSED' });
    expect(outcome?.message).toContain('it may not be read');
  });

  test('a path through /proc, where renames are never told', async () => {
    const root = workspace();
    executable(root, 'script', '#!/bin/sh\necho hi\n');
    const path = `/proc/self/root${root}/script`;
    const { facts, stdout } = await run([path], { workspace: root });
    expectUnbound({ pid: 0, outcome: { ok: true, facts: facts as never } }, 'renames on proc can go unseen');
    expect(stdout).toBe('hi\n');
    expect((await bindFailure([path], { workspace: root, order: STRICT })).code).toBe('BINDING_REFUSED');
  });

  test('a directory that could take another name for the same (here: a hard link that looks like it)', async () => {
    const root = workspace();
    executable(root, 'script', '#!/bin/sh\n');
    execFileSync('ln', ['script', 'SCRIPT'], { cwd: root });
    const { facts } = await run(['./script'], { workspace: root });
    expectUnbound({ pid: 0, outcome: { ok: true, facts: facts as never } }, 'are the same there');
  });
});

/** Limits of a user namespace of its own: nobody else's watches are concerned, and nothing has to be put back. */
const namespaced = (limit: string) => ['-Ur', '/bin/sh', '-c', `echo ${limit} && exec "$@"`, 'sh'] as const;
const namespaces =
  spawnSync('/usr/bin/unshare', [...namespaced('3 > /proc/sys/user/max_inotify_watches'), 'true']).status === 0;

async function driveUnder(limit: string, root: string, order?: readonly BindingMethod[]): Promise<Report> {
  const asked = request(['./script'], { workspace: root, ...(order ? { order } : {}) });
  const output = execFileSync('/usr/bin/unshare', [...namespaced(limit), process.execPath, await driverPath()], {
    env: { PATH: '/usr/bin:/bin', DRIVER_ORDER: JSON.stringify({ request: asked }) },
  });
  return JSON.parse(output.toString()) as Report;
}

describe.skipIf(!namespaces)('the limits of inotify', () => {
  test.each([
    ['1 > /proc/sys/user/max_inotify_watches', 'fs.inotify.max_user_watches is reached'],
    ['0 > /proc/sys/user/max_inotify_instances', 'fs.inotify.max_user_instances is reached'],
  ])('%s', async (limit, reason) => {
    const root = workspace();
    executable(root, 'script', '#!/bin/sh\necho hi\n');
    const report = await driveUnder(limit, root);
    expectUnbound(report, reason);
    expect([report.output, report.finished?.flags]).toEqual(['hi\n', []]);
    const strict = await driveUnder(limit, root, STRICT);
    expect(strict.outcome).toMatchObject({ ok: false, code: 'BINDING_REFUSED' });
  });
});

/** More events than the queue holds, within one turn of our event loop. */
function flood(root: string): void {
  const most = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
  for (let made = 0; made <= most; made += 2) {
    mkdirSync(join(root, 'x'));
    rmdirSync(join(root, 'x'));
  }
}

describe('the queue overflows', () => {
  const flooded = async (content: string, order: readonly BindingMethod[]) => {
    const root = workspace();
    executable(root, 'script', content);
    return { root, bound: await bind(['./script'], { workspace: root, order }) };
  };

  test('while it runs: it is let go on, and flagged at the end', async () => {
    const { root, bound } = await flooded('#!/bin/sh\nsleep 0.3\n', STRICT);
    const running = bound.start({});
    flood(root);
    const { exit, flags, gaps } = await finishRun(bound, running);
    expect([exit.exitCode, flags, gaps]).toEqual([0, ['SCRIPT_REBOUND'], ['not-observed']]);
    const [gap] = running.finish().gaps;
    expect(gap).toMatchObject({ field: '/executable', detail: expect.stringContaining('keeps note of') });
    bound.release();
  });

  test('before the start: it runs where the policy lets it run unbound', async () => {
    const { root, bound } = await flooded('#!/bin/sh\nexit 0\n', ['lease', 'none']);
    flood(root);
    expect((await finishRun(bound, bound.start({}))).flags).toEqual(['SCRIPT_REBOUND']);
    bound.release();
  });

  test('before the start: nothing is started where it does not', async () => {
    const { root, bound } = await flooded('#!/bin/sh\nexit 0\n', STRICT);
    flood(root);
    expect(() => bound.start({})).toThrow(expect.objectContaining({ code: 'BINDING_REFUSED' }));
    bound.release();
  });

  test('the next launch is none the worse for it', async () => {
    const { root, bound } = await flooded('#!/bin/sh\nexit 0\n', STRICT);
    flood(root);
    bound.release();
    expect((await run(['./script'], { workspace: root })).flags).toEqual([]);
  });
});

const canMount = spawnSync('/usr/bin/unshare', ['-m', 'true']).status === 0;

describe.skipIf(!canMount)('mounts', () => {
  async function mounting(commands: (root: string) => string[], undo: (root: string) => string[]) {
    const root = workspace();
    for (const name of ['bin', 'elsewhere', 'volume']) mkdirSync(join(root, name));
    execFileSync('/usr/bin/mount', ['-t', 'tmpfs', 'tmpfs', join(root, 'volume')]);
    try {
      executable(join(root, 'bin'), 'script', '#!/bin/sh\nsleep 0.4\n');
      symlinkSync('../bin', join(root, 'volume/way'));
      const bound = await bind(['volume/way/script'], { workspace: root });
      expect(bound.facts.flags).toEqual([]);
      const running = bound.start({});
      await new Promise((resolve) => setTimeout(resolve, 30));
      execFileSync('/usr/bin/mount', commands(root));
      const { flags } = await finishRun(bound, running);
      execFileSync('/usr/bin/umount', undo(root));
      bound.release();
      return flags;
    } finally {
      execFileSync('/usr/bin/umount', ['-l', join(root, 'volume')]);
    }
  }

  test('over a directory of the path', async () => {
    const over = (root: string) => ['-t', 'tmpfs', 'tmpfs', join(root, 'bin')];
    expect(await mounting(over, (root) => [join(root, 'bin')])).toEqual(['SCRIPT_REBOUND']);
  });

  test('of the same directory over itself, which no identity shows', async () => {
    const over = (root: string) => ['--bind', join(root, 'bin'), join(root, 'bin')];
    expect(await mounting(over, (root) => [join(root, 'bin')])).toEqual(['SCRIPT_REBOUND']);
  });

  test('elsewhere concern nobody, nor does another option', async () => {
    const elsewhere = (root: string) => ['-t', 'tmpfs', 'tmpfs', join(root, 'elsewhere')];
    expect(await mounting(elsewhere, (root) => [join(root, 'elsewhere')])).toEqual([]);
    const remount = (root: string) => ['-o', 'remount,noexec', join(root, 'volume')];
    expect(await mounting(remount, () => ['--version'])).toEqual([]);
  });

  test('a file system of the path that is taken away', async () => {
    const root = workspace();
    for (const name of ['bin', 'volume']) mkdirSync(join(root, name));
    execFileSync('/usr/bin/mount', ['-t', 'tmpfs', 'tmpfs', join(root, 'volume')]);
    executable(join(root, 'bin'), 'script', '#!/bin/sh\nsleep 0.3\n');
    symlinkSync('../bin', join(root, 'volume/way'));
    const bound = await bind(['volume/way/script'], { workspace: root });
    const running = bound.start({});
    await new Promise((resolve) => setTimeout(resolve, 30));
    execFileSync('/usr/bin/umount', [join(root, 'volume')]);
    expect((await finishRun(bound, running)).flags).toEqual(['SCRIPT_REBOUND']);
    bound.release();
  });
});

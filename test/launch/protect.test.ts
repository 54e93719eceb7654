import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { close, open, Session } from 'node:inspector';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assertUnobserved, lockFile, unlockFile } from '../../src/launch/index.ts';
import { drive, ORDINARY } from './driver.ts';
import { workspace } from './harness.ts';

function asOrdinary(line: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', line], { uid: ORDINARY, gid: ORDINARY });
  return { status, output: `${stdout}${stderr}` };
}

describe.skipIf(process.getuid?.() !== 0)('the executor protects itself', () => {
  test('the same uid is refused environ, memory and descriptors; without the defence it is not', async () => {
    const secret = { SECRET: 'in-the-environment' };
    const open = await drive({ protect: false, lingerMs: 20_000 }, ORDINARY, secret);
    const guarded = await drive({ protect: true, lingerMs: 20_000 }, ORDINARY, secret);
    expect((await open.report).protection).toBeUndefined();
    expect((await guarded.report).protection).toEqual({ dumpable: false, inspectorOpen: false });
    expect(asOrdinary(`cat /proc/${open.pid}/environ`).output).toContain('in-the-environment');
    for (const file of ['environ', 'mem', 'maps', 'fd/0']) {
      const { status, output } = asOrdinary(`cat /proc/${guarded.pid}/${file}`);
      expect([status, output]).toEqual([1, expect.stringContaining('Permission denied')]);
    }
    open.end();
    guarded.end();
  });

  test('SIGUSR1 opens no inspector; without the defence it does', async () => {
    const exposed = await drive({ protect: false, lingerMs: 20_000 });
    const guarded = await drive({ protect: true, lingerMs: 20_000 });
    await Promise.all([exposed.report, guarded.report]);
    for (const { pid } of [guarded, exposed]) process.kill(pid, 'SIGUSR1');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(exposed.stderr()).toMatch(/Debugger listening/);
    expect(guarded.stderr()).toBe('');
    exposed.end();
    guarded.end();
  });

  test('SIGIO does not end it, and core dumps are off', async () => {
    const guarded = await drive({ protect: true, lingerMs: 20_000 });
    await guarded.report;
    process.kill(guarded.pid, 'SIGIO');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(readFileSync(`/proc/${guarded.pid}/limits`, 'utf8')).toMatch(/Max core file size +[01] /);
    guarded.end();
  });

  test('an inspector that was asked for on the command line is seen', async () => {
    const inspected = await drive({ protect: true }, ORDINARY, { NODE_OPTIONS: '--inspect=0' });
    expect((await inspected.report).protection).toMatchObject({ inspectorOpen: true });
  });
});

test('no key is used while the inspector is open', () => {
  expect(() => assertUnobserved()).not.toThrow();
  expect(new Session()).toBeDefined();
  open(0);
  expect(() => assertUnobserved()).toThrow(expect.objectContaining({ code: 'KEY_EXPOSED' }));
  close();
  expect(() => assertUnobserved()).not.toThrow();
});

test('flock: exclusive, shared, without waiting, and given back', () => {
  const path = join(workspace(), 'lock');
  writeFileSync(path, '');
  const [first, second] = [openSync(path, 'r'), openSync(path, 'r')];
  const take = (fd: number, exclusive: boolean) => lockFile?.(fd, { exclusive, wait: false });
  expect(take(first, true)).toBe(true);
  expect([take(second, true), take(second, false)]).toEqual([false, false]);
  unlockFile?.(first);
  expect([take(second, false), take(first, false), take(first, true)]).toEqual([true, true, false]);
  closeSync(second);
  expect(take(first, true)).toBe(true);
  closeSync(first);
  expect(() => take(first, true)).toThrow(/EBADF/);
});

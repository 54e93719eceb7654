import { chmodSync, chownSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BindingMethod } from '../../src/contract/index.ts';
import type { DriverOrder } from '../fixtures/launch/driver.ts';
import { drive, ORDINARY } from './driver.ts';
import { executable, type Options, request, workspace } from './harness.ts';

function own(): string {
  const root = workspace();
  chownSync(root, ORDINARY, ORDINARY);
  return root;
}

async function asOrdinary(argv: readonly string[], options: Options, more: Omit<DriverOrder, 'request'> = {}) {
  const driver = await drive({ request: request(argv, options), protect: true, ...more });
  return driver.report;
}

function attempts(report: Awaited<ReturnType<typeof asOrdinary>>): unknown {
  const facts = report.outcome?.facts as unknown as { executable: { binding: { method: BindingMethod } } };
  return facts.executable.binding.method;
}

describe.skipIf(process.getuid?.() !== 0)('as an ordinary user, undumpable', () => {
  test("root's programs run in place, since nobody but root can write to them", async () => {
    const root = own();
    const order = ['lease', 'root-owned', 'cas-lease'] as const;
    const report = await asOrdinary(['readlink', '/proc/self/exe'], { workspace: root, order: [...order] });
    expect(report.output).toMatch(/^\/usr\/bin\/readlink\n$/);
    expect(attempts(report)).toBe('root-owned');
    expect(report.finished?.flags).toEqual([]);
  });

  test.each([0o777, 0o757, 0o775])(
    "root's programs of mode %o are not taken for safe when this user may write to them",
    async (mode) => {
      const root = own();
      copyFileSync('/bin/readlink', join(root, 'program'));
      chownSync(join(root, 'program'), 0, mode === 0o775 ? ORDINARY : 0);
      chmodSync(join(root, 'program'), mode);
      const report = await asOrdinary(['./program', '/proc/self/exe'], {
        workspace: root,
        order: ['root-owned', 'cas-lease'],
      });
      expect(attempts(report)).toBe('cas-lease');
    },
  );

  test("root's script is bound in place with its interpreter", async () => {
    const root = own();
    executable(root, 'script', '#!/bin/sh\necho "$0"\n');
    const order = ['lease', 'root-owned', 'cas-lease', 'none'] as const;
    const report = await asOrdinary(['./script'], { workspace: root, order: [...order] });
    expect([report.output, attempts(report)]).toEqual(['./script\n', 'root-owned']);
    expect(report.finished?.flags).toEqual([]);
  });

  test("root's programs run from a leased copy where the policy wants a lease", async () => {
    const root = own();
    const report = await asOrdinary(['readlink', '/proc/self/exe'], { workspace: root });
    expect(report.output).toMatch(/\.programs\/[0-9a-f]{64}\n$/);
    expect(attempts(report)).toBe('cas-lease');
    expect(report.finished?.flags).toEqual([]);
  });

  test('what runs is compared with what was bound', async () => {
    const root = own();
    const report = await asOrdinary(['sleep', '0.2'], { workspace: root });
    expect(report.finished).toEqual({ flags: [], gaps: [] });
  });

  test('its own programs run in place', async () => {
    const root = own();
    copyFileSync('/bin/readlink', join(root, 'program'));
    chownSync(join(root, 'program'), ORDINARY, ORDINARY);
    const report = await asOrdinary(['./program', '/proc/self/exe'], { workspace: root });
    expect(report.output).toBe(`${root}/program\n`);
    expect(attempts(report)).toBe('lease');
  });

  test('java of root looks beside itself: neither copied nor leased', async () => {
    const root = own();
    const report = await asOrdinary(['/usr/bin/java', '-version'], { workspace: root });
    if (!report.outcome?.ok) return expect(report.outcome?.code).toBe('PROGRAM_NOT_FOUND');
    expect(attempts(report)).toBe('none');
    expect(report.exit?.exitCode).toBe(0);
  });

  test('its own script is watched, and a name that changes in between blocks it', async () => {
    for (const between of ['true', 'mv script was; cp was script; mv was script']) {
      const root = own();
      chownSync(executable(root, 'script', '#!/bin/sh\necho hi\n'), ORDINARY, ORDINARY);
      const report = await asOrdinary(['./script'], { workspace: root }, { between: `cd ${root} && ${between}` });
      expect(report.outcome?.facts).toMatchObject({ flags: [], script: { mode: 'watched' } });
      if (between === 'true') expect([report.output, report.finished?.flags]).toEqual(['hi\n', []]);
      else expect(report.error).toMatchObject({ code: 'BINDING_REFUSED' });
    }
  });

  test("another user's script cannot be leased and says so", async () => {
    const root = own();
    executable(root, 'script', '#!/bin/sh\necho hi\n');
    const report = await asOrdinary(['./script'], { workspace: root });
    expect(report.output).toBe('hi\n');
    expect(report.outcome?.facts).toMatchObject({ flags: ['UNBOUND_EXECUTABLE'], script: { mode: 'unbound' } });
    const refused = await asOrdinary(['./script'], { workspace: root, order: ['lease', 'cas-lease'] });
    expect(refused.outcome).toMatchObject({ ok: false, code: 'BINDING_REFUSED' });
  });

  test('a setuid program is started in place and keeps what its owner gave it', async () => {
    const root = own();
    copyFileSync('/usr/bin/id', join(root, 'program'));
    chmodSync(join(root, 'program'), 0o4755);
    const report = await asOrdinary(['./program', '-u'], { workspace: root });
    expect(attempts(report)).toBe('none');
    expect(report.output).toBe('0\n');
  });

  test('a child that cannot be signalled is UNKILLABLE', async () => {
    const root = own();
    copyFileSync('/usr/bin/setpriv', join(root, 'program'));
    chmodSync(join(root, 'program'), 0o4755);
    const argv = ['./program', '--reuid=0', '--regid=0', '--clear-groups', 'sleep', '0.6'];
    const report = await asOrdinary(argv, { workspace: root }, { signalMs: 300 });
    expect(report.signalled).toBe(false);
    expect(report.finished?.flags).toEqual(['UNKILLABLE']);
    expect(report.exit?.exitCode).toBe(0);
  });

  test('what may be executed but not read is refused', async () => {
    const root = own();
    copyFileSync('/bin/true', join(root, 'program'));
    chmodSync(join(root, 'program'), 0o711);
    const report = await asOrdinary(['./program'], { workspace: root });
    expect(report.outcome).toMatchObject({ ok: false, code: 'BINDING_REFUSED' });
  });

  test('a directory that may not be entered', async () => {
    const root = own();
    const closed = workspace();
    chmodSync(closed, 0o700);
    const report = await asOrdinary(['true'], { workspace: closed });
    expect(report.outcome).toMatchObject({ ok: false, code: 'CWD_UNREADABLE' });
    expect(root).not.toBe(closed);
  });

  test('attacks by the same uid: rewritten, renamed over and emptied between bind and start', async () => {
    for (const [attack, expected] of [
      [': > program', 'BINDING_REFUSED'],
      ['printf x > new; chmod 755 new; mv new program', 'runs'],
    ] as const) {
      const root = own();
      copyFileSync('/bin/true', join(root, 'program'));
      chownSync(join(root, 'program'), ORDINARY, ORDINARY);
      writeFileSync(join(root, 'log'), '');
      const between = attack.includes('mv')
        ? `cd ${root} && ${attack}`
        : `cd ${root} && (${attack}) > /dev/null 2>&1 & sleep 0.2`;
      const report = await asOrdinary(['./program'], { workspace: root }, { between });
      if (expected === 'runs') expect([report.exit?.exitCode, report.finished?.flags]).toEqual([0, []]);
      else expect(report.error).toMatchObject({ code: expected });
    }
  });
});

import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BindingMethod } from '../../src/contract/index.ts';
import { bind, bindFailure, finishRun, run, until, workspace } from './harness.ts';

const JAVA = '/usr/bin/java';

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function copyOf(program: string, directory: string): string {
  const path = join(directory, 'program');
  copyFileSync(program, path);
  chmodSync(path, 0o755);
  return path;
}

describe.each([
  ['ext4', undefined],
  ['tmpfs', '/dev/shm'],
])('on %s', (filesystem, under) => {
  let root: string;
  let program: string;
  beforeAll(() => {
    root = workspace(under);
    program = copyOf('/bin/readlink', root);
  });
  const with_ = (...order: BindingMethod[]) => ({ workspace: root, order });
  const exe = ['./program', '/proc/self/exe'];

  test('lease: in place', async () => {
    const { stdout, facts, flags } = await run(exe, with_('lease'));
    expect(stdout).toBe(`${program}\n`);
    const { dev, ino, size } = statSync(program, { bigint: true });
    expect(facts.executable).toEqual({
      requested: './program',
      path: program,
      kind: 'elf',
      sha256: sha256(program),
      size: Number(size),
      device: `${dev}`,
      inode: `${ino}`,
      binding: { method: 'lease', filesystem, attempts: [{ method: 'lease', outcome: 'used' }] },
    });
    expect([facts.flags, flags, facts.interpreters, facts.script]).toEqual([[], [], [], undefined]);
    expect(facts.gaps.map((gap) => gap.reason)).toEqual(['dynamic-loader-unbound', 'first-exec']);
  });

  test('cas-lease: a copy named by its digest, kept for the next time', async () => {
    const { stdout, facts, flags } = await run(exe, with_('cas-lease'));
    const copy = join(root, '.programs', sha256(program));
    expect(stdout).toBe(`${copy}\n`);
    expect(facts.executable).toMatchObject({
      path: program,
      sha256: sha256(program),
      binding: { method: 'cas-lease', filesystem },
    });
    expect(statSync(copy).mode & 0o7777).toBe(0o555);
    expect(statSync(join(root, '.programs')).mode & 0o7777).toBe(0o700);
    const { ino } = statSync(copy);
    await run(exe, with_('cas-lease'));
    expect(statSync(copy).ino).toBe(ino);
    expect(readdirSync(join(root, '.programs'))).toHaveLength(1);
    expect(flags).toEqual([]);
  });

  test('cas-lease: a copy that does not have its digest is made anew', async () => {
    const copy = join(root, '.programs', sha256(program));
    chmodSync(copy, 0o755);
    writeFileSync(copy, 'planted');
    const { stdout } = await run(exe, with_('cas-lease'));
    expect(stdout).toBe(`${copy}\n`);
    expect(sha256(copy)).toBe(sha256(program));
  });

  test('memfd: a sealed copy', async () => {
    const { stdout, facts } = await run(exe, with_('memfd'));
    expect(stdout).toBe('/memfd:program (deleted)\n');
    expect(facts.executable).toMatchObject({
      sha256: sha256(program),
      binding: { method: 'memfd', filesystem: 'tmpfs' },
    });
    expect(facts.flags).toEqual([]);
  });

  test('none: runs, and is marked', async () => {
    const { stdout, facts } = await run(exe, with_('none'));
    expect(stdout).toBe(`${program}\n`);
    expect(facts.executable).toMatchObject({ sha256: sha256(program), binding: { method: 'none', filesystem } });
    expect(facts.flags).toEqual(['UNBOUND_EXECUTABLE']);
  });

  test('the order is kept, and why a method was passed over is recorded', async () => {
    const { facts } = await run(exe, with_('fs-verity', 'memfd', 'lease'));
    expect(facts.executable.binding.attempts).toEqual([
      { method: 'fs-verity', outcome: 'passed-over', reason: expect.stringContaining('fs-verity') },
      { method: 'memfd', outcome: 'used' },
    ]);
  });

  test('nothing that works and no `none`: refused', async () => {
    expect(await bindFailure(exe, with_('fs-verity'))).toMatchObject({ kind: 'refused', code: 'BINDING_REFUSED' });
    expect(await bindFailure(exe, with_())).toMatchObject({ kind: 'refused', code: 'BINDING_REFUSED' });
  });
});

describe('what is never copied', () => {
  test('setuid and setgid files', async () => {
    const root = workspace();
    const program = copyOf('/bin/true', root);
    for (const mode of [0o4755, 0o2755]) {
      chmodSync(program, mode);
      const { facts } = await run(['./program'], { workspace: root, order: ['cas-lease', 'memfd', 'lease'] });
      expect(facts.executable.binding.attempts.map(({ reason }) => reason?.includes('setuid'))).toEqual([
        true,
        true,
        undefined,
      ]);
    }
    expect(existsSync(join(root, '.programs'))).toBe(false);
  });

  test.skipIf(!existsSync(JAVA))('programs with $ORIGIN: java runs in place only', async () => {
    const root = workspace();
    const { facts, exit, stderr } = await run([JAVA, '-version'], {
      workspace: root,
      order: ['cas-lease', 'memfd', 'lease'],
    });
    expect(exit.exitCode).toBe(0);
    expect(stderr).toMatch(/version/);
    expect(facts.executable.binding.attempts.map(({ reason }) => reason?.includes('$ORIGIN'))).toEqual([
      true,
      true,
      undefined,
    ]);
  });
});

describe('real programs run as without us', () => {
  test('node: execPath and its own children, in place', async () => {
    const script =
      'console.log(process.execPath, require("child_process").execFileSync(process.execPath, ["-p", "1+1"]).toString())';
    const { stdout } = await run([process.execPath, '-e', script], { order: ['lease'] });
    expect(stdout).toBe(`${process.execPath} 2\n\n`);
  });

  test('node: from the content-addressed copy it starts itself and its workers', async () => {
    const root = workspace();
    const script =
      'new (require("worker_threads").Worker)("console.log(7)", { eval: true }); console.log(require("child_process").execFileSync(process.execPath, ["-p", "1+1"]).toString())';
    const { stdout, facts } = await run([process.execPath, '-e', script], { workspace: root, order: ['cas-lease'] });
    expect(stdout.split('\n').filter(Boolean).sort()).toEqual(['2', '7']);
    expect(facts.executable.binding.method).toBe('cas-lease');
  });

  test('a program that is chosen by argv[0]', async () => {
    const bound = await bind(['sh', '-c', 'sleep 20; :']);
    const running = bound.start({});
    await until(() => readFileSync(`/proc/${running.pid}/cmdline`, 'utf8') === 'sh\0-c\0sleep 20; :\0');
    running.signal('SIGKILL');
    await finishRun(bound, running);
    bound.release();
  });

  test('a directory for copies that cannot be written passes cas-lease over', async () => {
    const root = workspace();
    writeFileSync(join(root, 'file'), '');
    mkdirSync(join(root, 'x'));
    const { facts } = await run(['true'], {
      workspace: root,
      order: ['cas-lease', 'none'],
      programsDirectory: join(root, 'file/programs'),
    });
    expect(facts.executable.binding.attempts[0]?.reason).toMatch(/no copy could be made/);
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bind, bindFailure, executable, FIXTURES, finishRun, linux, portable, run, workspace } from './harness.ts';

function place(name: string, directory: string): string {
  const path = join(directory, name);
  copyFileSync(join(FIXTURES, name), path);
  return path;
}

function installed(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

describe.each([linux, portable])('$kind: scripts behave as without us', (launcher) => {
  const FIXTURE_SCRIPTS: ReadonlyArray<readonly [script: string, needs: string]> = [
    ['hello.sh', 'sh'],
    ['hello.bash', 'bash'],
    ['hello.js', 'node'],
    ['hello.py', '/usr/bin/python3'],
    ['hello.pl', 'perl'],
    ['no-shebang', 'sh'],
    ['no-final-newline', 'sh'],
  ];
  for (const [script, needs] of FIXTURE_SCRIPTS) {
    test.skipIf(!installed(needs))(`${script} (${needs})`, async () => {
      const root = workspace();
      place(script, root);
      const argv = [`./${script}`, 'a b', ''] as const;
      const theirs = execFileSync(argv[0], argv.slice(1), { cwd: root, shell: false }).toString();
      const { stdout, exit, facts } = await run(argv, { launcher, workspace: root });
      expect(stdout).toBe(theirs);
      expect(stdout).toContain('a b');
      expect(exit.exitCode).toBe(0);
      expect(facts.executable.path).toBe(join(root, script));
    });
  }
});

describe('linux: the chain of a script', () => {
  test('script and interpreter are two identities, and the vector is the one given to exec', async () => {
    const root = workspace();
    place('hello.js', root);
    const { facts } = await run(['./hello.js', 'x'], { workspace: root });
    expect(facts.executable).toMatchObject({ requested: './hello.js', kind: 'script', binding: { method: 'lease' } });
    expect(facts.interpreters).toHaveLength(1);
    expect(facts.interpreters[0]).toMatchObject({ requested: 'node', kind: 'elf', binding: { method: 'lease' } });
    expect(basename(facts.interpreters[0]?.path ?? '')).toBe('node');
    expect(facts.argv).toEqual(['node', './hello.js', 'x']);
    expect(facts.script).toEqual({ mode: 'watched', shebang: '/usr/bin/env node' });
    expect(facts.flags).toEqual([]);
  });

  test('a carriage return in the first line is looked for and not found, as by the kernel', async () => {
    const root = workspace();
    executable(root, 'crlf', '#!/bin/sh\r\necho hi\r\n');
    executable(root, 'env-crlf', '#!/usr/bin/env sh\r\necho hi\r\n');
    for (const name of ['crlf', 'env-crlf']) {
      expect(await bindFailure([`./${name}`], { workspace: root })).toMatchObject({
        kind: 'start-failed',
        code: 'PROGRAM_NOT_FOUND',
        errno: 'ENOENT',
        next: expect.stringContaining('Unix line endings'),
        executable: { path: join(root, name), kind: 'script' },
      });
    }
  });

  test('nested interpreters to the depth of the kernel', async () => {
    const root = workspace();
    executable(root, 's1', '#!/bin/echo -n\n');
    for (let level = 2; level <= 6; level++) executable(root, `s${level}`, `#!${root}/s${level - 1} arg${level}\n`);
    const theirs = execFileSync(join(root, 's5'), ['x']).toString();
    const { stdout, facts } = await run([join(root, 's5'), 'x'], { workspace: root });
    expect(stdout).toBe(theirs);
    expect(facts.interpreters.map((file) => file.kind)).toEqual(['script', 'script', 'script', 'script', 'elf']);
    expect(() => execFileSync(join(root, 's6'))).toThrow(/ELOOP/);
    expect(await bindFailure([join(root, 's6')], { workspace: root })).toMatchObject({
      code: 'SCRIPT_INVALID',
      errno: 'ELOOP',
    });
  });

  test('a script as the program of env, and a circle of them', async () => {
    const root = workspace();
    const environment = { PATH: `${root}:/usr/bin:/bin` };
    executable(root, 'inner', '#!/bin/sh\necho inner "$@"\n');
    executable(root, 'outer', '#!/usr/bin/env inner\n');
    executable(root, 'circle', '#!/usr/bin/env circle\n');
    const { stdout, facts } = await run(['outer', 'x'], { workspace: root, environment });
    expect(stdout).toBe(`inner ${root}/outer x\n`);
    expect(facts.argv).toEqual(['/bin/sh', `${root}/inner`, `${root}/outer`, 'x']);
    expect(await bindFailure(['circle'], { workspace: root, environment })).toMatchObject({ code: 'SCRIPT_INVALID' });
  });

  test('where env must search PATH itself, the receipt says unbound, or the policy refuses', async () => {
    const root = workspace();
    executable(root, 'script', '#!/usr/bin/env -S -i A="x y" sh -c "echo $A; env"\n');
    const { facts } = await run(['./script'], { workspace: root });
    expect(facts.flags).toEqual(['UNBOUND_EXECUTABLE']);
    expect(facts.interpreters.map((file) => file.path)).toEqual(['/usr/bin/env']);
    expect(await bindFailure(['./script'], { workspace: root, order: ['lease'] })).toMatchObject({
      code: 'BINDING_REFUSED',
    });
  });

  test('an interpreter that is missing, a directory, or not executable', async () => {
    const root = workspace();
    executable(root, 'missing', '#!/no/such/interpreter\n');
    executable(root, 'directory', '#!/usr\n');
    executable(root, 'data', '#!/etc/passwd\n');
    expect((await bindFailure(['./missing'], { workspace: root })).code).toBe('PROGRAM_NOT_FOUND');
    expect((await bindFailure(['./directory'], { workspace: root })).code).toBe('PROGRAM_IS_DIRECTORY');
    expect((await bindFailure(['./data'], { workspace: root })).code).toBe('PROGRAM_NOT_EXECUTABLE');
  });

  test('bytes that are neither a native ELF nor text never reach the kernel', async () => {
    const root = workspace();
    const foreign = readFileSync('/bin/true');
    foreign.writeUInt16LE(0xf3, 18);
    executable(root, 'foreign', foreign);
    executable(root, 'archive', Buffer.from('PK\x03\x04\0\0\0'));
    for (const name of ['foreign', 'archive']) {
      expect(await bindFailure([`./${name}`], { workspace: root })).toMatchObject({
        code: 'PROGRAM_NOT_EXECUTABLE',
        errno: 'ENOEXEC',
      });
    }
  });

  test('a script is leased or unbound, never copied', async () => {
    const root = workspace();
    place('hello.sh', root);
    const options = { workspace: root, order: ['cas-lease', 'memfd', 'none'] as const };
    const { facts } = await run(['./hello.sh'], options);
    expect(facts.executable.binding.attempts.map(({ outcome }) => outcome)).toEqual([
      'passed-over',
      'passed-over',
      'used',
    ]);
    expect(facts.script?.mode).toBe('unbound');
    expect(facts.flags).toEqual(['UNBOUND_EXECUTABLE']);
  });
});

describe.each([linux, portable])('$kind: a shell text', (launcher) => {
  const text = 'echo "text $1"\nfalse\necho "not reached"\n';
  const shell = { mode: 'shell', shell: 'bash', args: ['--noprofile', '--norc', '-e', '{0}', 'one'], text } as const;

  test('is handed over by path and runs as from a file', async () => {
    const { stdout, exit, facts } = await run(shell, { launcher });
    expect(stdout).toBe('text one\n');
    expect(exit.exitCode).toBe(1);
    expect(facts.executable).toMatchObject({ requested: 'bash', kind: 'elf' });
    expect(facts.script).toEqual({ mode: launcher.kind === 'linux' ? 'sealed' : 'unbound' });
    expect(facts.argv).toEqual(['bash', '--noprofile', '--norc', '-e', facts.argv[4], 'one']);
  });

  test('is gone from the disk afterwards', async () => {
    const bound = await bind(shell, { launcher });
    const path = bound.facts.argv[4] ?? '';
    await finishRun(bound, bound.start({}));
    bound.release();
    expect(path).not.toBe('');
    expect(existsSync(path)).toBe(false);
    rmSync(path, { force: true });
  });

  test('arguments without a place for it are refused', async () => {
    const failure = await bindFailure({ ...shell, args: ['-e'] }, { launcher });
    expect(failure).toMatchObject({ kind: 'refused', code: 'SCRIPT_INVALID' });
  });

  test.skipIf(!installed('/usr/bin/python3'))('other shells: python', async () => {
    const python = {
      mode: 'shell',
      shell: '/usr/bin/python3',
      args: ['{0}'],
      text: 'import sys\nprint(len(sys.argv))\n',
    } as const;
    expect((await run(python, { launcher })).stdout).toBe('1\n');
  });
});

describe('linux: a sealed shell text', () => {
  test('cannot be written, not even by the command itself', async () => {
    const text = 'f=$0\n(echo evil >> $f) 2>/dev/null; echo "write: $?"; ls -l $f | grep -c "/memfd:script"\n';
    const { stdout } = await run({ mode: 'shell', shell: 'bash', args: ['{0}'], text });
    expect(stdout).toMatch(/^write: [12]\n1\n$/);
  });

  test('large texts, and a text that redirects low descriptors', async () => {
    const long = `exec 3>/dev/null 4>&1 9</dev/null\n${'# filler line\n'.repeat(20_000)}echo end\n`;
    expect((await run({ mode: 'shell', shell: 'sh', args: ['-e', '{0}'], text: long })).stdout).toBe('end\n');
  });
});

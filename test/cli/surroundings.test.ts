import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, type Place, place } from './receipts.ts';

const STACK = /^\s+at .*\.js:\d+/m;

function shell(here: Place, command: string) {
  return spawnSync('sh', ['-c', `receipts() { "${process.execPath}" "${CLI}" "$@"; }; ${command}`], {
    cwd: here.directory,
    env: here.environment,
    encoding: 'utf8',
  });
}

describe('a current directory that is gone', () => {
  it.each([
    ['verify', 2],
    ['list', 2],
    ['show 0000', 2],
    ['recover', 2],
    ['close x', 2],
    ['run -- true', 125],
  ])('%s exits %i with CWD_NOT_FOUND', (args, code) => {
    const { status, stderr } = shell(place(), `mkdir gone; cd gone; rmdir ../gone; receipts ${args}`);
    expect([status, stderr]).toEqual([code, expect.stringContaining('CWD_NOT_FOUND')]);
    expect(stderr).not.toMatch(STACK);
  });

  it('is no matter where the store is named by a whole path', () => {
    const here = place();
    here.receipts(['run', '-q', '--', 'true']);
    const store = join(here.directory, '.receipts');
    const { stdout } = shell(here, `mkdir gone; cd gone; rmdir ../gone; receipts list --store ${store}`);
    expect(stdout).toContain('    verified\n');
  });

  it('since the command removed it, leaves its exit code alone', () => {
    const here = place();
    const { status, stderr } = shell(
      here,
      'mkdir own; cd own; receipts run --store "$PWD/../.receipts" -- sh -c \'rmdir "$PWD"; exit 4\'',
    );
    expect([status, stderr]).toEqual([4, expect.stringContaining('exited 4')]);
    expect(existsSync(join(here.directory, 'own'))).toBe(false);
  });
});

describe('a store that is none', () => {
  const here = place();
  writeFileSync(join(here.directory, 'file'), 'x');
  symlinkSync('loop', join(here.directory, 'loop'));
  it.each(['file', 'loop', 'none', 'file/below'])('%s is unreadable input to every command', (store) => {
    for (const args of [['list'], ['show', '0000'], ['recover'], ['close', 'x']]) {
      const { status, stdout, stderr } = here.receipts([...args, '--store', store]);
      expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining('INPUT_UNREADABLE')]);
      expect(stderr).not.toMatch(STACK);
    }
  });

  it('an empty one holds no receipts yet', () => {
    mkdirSync(join(here.directory, 'empty'));
    const { status, stdout } = here.receipts(['verify', 'empty']);
    expect([status, stdout]).toEqual([2, expect.stringMatching(/no receipts yet\n\s+Make one: receipts run/)]);
  });
});

describe.runIf(process.platform === 'linux')('bytes that are no UTF-8', () => {
  it.each([
    ['an argument', 'receipts run -- touch "$(printf "a\\377b")"'],
    ['a shell text', 'receipts run --shell "$(printf "touch a\\377b")"'],
  ])('in %s are refused, not replaced', (_name, command) => {
    const here = place();
    const { status, stderr } = shell(here, command);
    expect([status, stderr]).toEqual([125, expect.stringContaining('ARGV_INVALID')]);
    expect(shell(here, 'ls -A').stdout).toBe('');
  });

  it.each([
    ['run -- true', 125],
    ['list', 2],
    ['verify', 2],
  ])('in the name of the current directory: %s exits %i with CWD_UNREADABLE', (args, code) => {
    const { status, stderr } = shell(place(), `d="$(printf 'a\\377b')"; mkdir "$d"; cd "$d"; receipts ${args}`);
    expect([status, stderr]).toEqual([code, expect.stringContaining('CWD_UNREADABLE')]);
    expect(stderr).not.toMatch(STACK);
  });

  it('are not what a replacement character that was given stands for', () => {
    const here = place();
    mkdirSync(join(here.directory, 'a\uFFFDb'));
    const { status, stdout } = here.receipts(['run', '-q', '--', 'printf', '%s', 'x\uFFFDy'], {
      cwd: join(here.directory, 'a\uFFFDb'),
    });
    expect([status, stdout]).toEqual([0, 'x\uFFFDy']);
  });
});

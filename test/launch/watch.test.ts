import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import koffi from 'koffi';
import { describe, expect, test } from 'vitest';
import type { BindingMethod } from '../../src/contract/index.ts';
import { bind, executable, finishRun, workspace } from './harness.ts';

/**
 * The path is made to mean another file and put back within one turn of our event loop: whoever compares identities sees
 * nothing of it. What runs meanwhile takes long enough to be ended.
 */
const GOOD = '#!/bin/sh\nsleep 20\n';

interface Attack {
  readonly name: string;
  /** The program's name from the workspace. */
  readonly program: string;
  readonly strike: (at: (path: string) => string) => void;
}

/** `real/bin/tool` and its ways: `link` to the file, `way` and `absolute` to the directory, `far` over both. */
function layOut(content = GOOD): { root: string; at: (path: string) => string } {
  const root = workspace();
  const at = (path: string) => join(root, path);
  mkdirSync(at('real/bin'), { recursive: true });
  mkdirSync(at('evil/bin'), { recursive: true });
  executable(at('real/bin'), 'tool', content);
  executable(at('evil/bin'), 'tool', '#!/bin/sh\necho evil\n');
  symlinkSync('real/bin/tool', at('link'));
  symlinkSync('real/bin', at('way'));
  symlinkSync(at('real'), at('absolute'));
  symlinkSync('absolute/../way/tool', at('far'));
  return { root, at };
}

/** One name takes another's place and gives it back. */
function borrowed(name: string, by: string): Attack['strike'] {
  return (at) => {
    renameSync(at(name), at('aside'));
    renameSync(at(by), at(name));
    renameSync(at(name), at(by));
    renameSync(at('aside'), at(name));
  };
}

function relinked(name: string, evil: string, good: string): Attack['strike'] {
  return (at) => {
    for (const target of [evil, good]) {
      symlinkSync(target, at('new'));
      renameSync(at('new'), at(name));
    }
  };
}

const RENAME_EXCHANGE = 2;
const AT_FDCWD = -100;
const renameat2 = koffi.load(null).func('int renameat2(int, const char*, int, const char*, uint)');

function exchanged(one: string, other: string): Attack['strike'] {
  return (at) => {
    for (let turn = 0; turn < 2; turn++)
      expect(renameat2(AT_FDCWD, at(one), AT_FDCWD, at(other), RENAME_EXCHANGE)).toBe(0);
  };
}

const ATTACKS: readonly Attack[] = [
  { name: 'renamed over and back', program: 'real/bin/tool', strike: borrowed('real/bin/tool', 'evil/bin/tool') },
  { name: 'its directory renamed and back', program: 'real/bin/tool', strike: borrowed('real/bin', 'evil/bin') },
  { name: 'an ancestor renamed and back', program: 'real/bin/tool', strike: borrowed('real', 'evil') },
  { name: 'its link swapped and back', program: './link', strike: relinked('link', 'evil/bin/tool', 'real/bin/tool') },
  { name: "an ancestor's link swapped and back", program: 'way/tool', strike: relinked('way', 'evil/bin', 'real/bin') },
  {
    name: "a directory of a link's target renamed and back",
    program: './link',
    strike: borrowed('real/bin', 'evil/bin'),
  },
  { name: 'a link that a link passes', program: './far', strike: relinked('way', 'evil/bin', 'real/bin') },
  { name: 'a link passed only on the way up', program: './far', strike: borrowed('absolute', 'evil') },
  {
    name: 'exchanged with another file twice',
    program: 'real/bin/tool',
    strike: exchanged('real/bin/tool', 'evil/bin/tool'),
  },
  { name: 'a directory exchanged twice', program: 'way/tool', strike: exchanged('real', 'evil') },
  {
    name: 'unlinked, another put there, the same inode linked back',
    program: 'real/bin/tool',
    strike(at) {
      linkSync(at('real/bin/tool'), at('kept'));
      unlinkSync(at('real/bin/tool'));
      copyFileSync(at('evil/bin/tool'), at('real/bin/tool'));
      unlinkSync(at('real/bin/tool'));
      linkSync(at('kept'), at('real/bin/tool'));
    },
  },
  {
    name: 'unlinked and made anew with the same content',
    program: 'real/bin/tool',
    strike(at) {
      rmSync(at('real/bin/tool'));
      executable(at('real/bin'), 'tool', GOOD);
    },
  },
  {
    name: 'emptied through O_TRUNC, times restored',
    program: 'real/bin/tool',
    strike(at) {
      const { atime, mtime } = statSync(at('real/bin/tool'));
      closeSync(openSync(at('real/bin/tool'), constants.O_RDONLY | constants.O_TRUNC));
      utimesSync(at('real/bin/tool'), atime, mtime);
    },
  },
];

describe.each(ATTACKS)('$name', ({ program, strike }) => {
  test('between bind and start: nothing is started', async () => {
    const { root, at } = layOut();
    const bound = await bind([program], { workspace: root });
    strike(at);
    expect(() => bound.start({})).toThrow(expect.objectContaining({ code: 'BINDING_REFUSED' }));
    bound.release();
  });

  test('while it runs: the group is ended', async () => {
    const { root, at } = layOut();
    const bound = await bind([program], { workspace: root });
    expect(bound.facts).toMatchObject({ flags: [], script: { mode: 'watched' } });
    const rebound: string[] = [];
    const ended = finishRun(bound, bound.start({ onRebound: (flag) => rebound.push(flag) }));
    await new Promise((resolve) => setTimeout(resolve, 30));
    strike(at);
    const { exit, flags } = await ended;
    expect([exit.signal, flags, rebound]).toEqual(['SIGKILL', ['SCRIPT_REBOUND'], ['SCRIPT_REBOUND']]);
    bound.release();
  });

  test('seen at the end when nothing was seen before', async () => {
    const { root, at } = layOut('#!/bin/sh\nexit 0\n');
    const bound = await bind([program], { workspace: root });
    const running = bound.start({});
    await running.exit;
    strike(at);
    expect(running.finish().flags).toEqual(['SCRIPT_REBOUND']);
    bound.release();
  });
});

test('a slow interpreter opens its script after every check, and the script that it finds puts the link back', async () => {
  const root = workspace();
  const at = (name: string) => join(root, name);
  executable(root, 'good', `#!${process.execPath}\nconsole.log("good")\n`);
  executable(
    root,
    'evil',
    `#!${process.execPath}\nrequire("fs").renameSync(${JSON.stringify(at('back'))},${JSON.stringify(at('tool'))});console.log("evil")\n`,
  );
  for (const [name, target] of [
    ['tool', 'good'],
    ['back', 'good'],
    ['swap', 'evil'],
  ] as const)
    symlinkSync(target, at(name));
  const bound = await bind(['./tool'], { workspace: root });
  const running = bound.start({});
  renameSync(at('swap'), at('tool'));
  const { flags } = await finishRun(bound, running);
  expect(flags).toEqual(['SCRIPT_REBOUND']);
  bound.release();
});

test('an interpreter that is a script is watched as well', async () => {
  const root = workspace();
  const inner = executable(root, 'inner', GOOD);
  executable(root, 'outer', `#!${inner}\n`);
  const bound = await bind(['./outer'], { workspace: root });
  executable(root, 'evil', GOOD);
  const ended = finishRun(bound, bound.start({}));
  await new Promise((resolve) => setTimeout(resolve, 30));
  borrowed('inner', 'evil')((name) => join(root, name));
  const { exit, flags } = await ended;
  expect([exit.signal, flags]).toEqual(['SIGKILL', ['SCRIPT_REBOUND']]);
  bound.release();
});

test('a copy in the store, renamed over and back', async () => {
  const root = workspace();
  copyFileSync('/bin/sleep', join(root, 'program'));
  const order: BindingMethod[] = ['cas-lease'];
  const bound = await bind(['./program', '20'], { workspace: root, order });
  const ended = finishRun(bound, bound.start({}));
  const copy = join('.programs', bound.facts.executable.sha256 ?? '');
  executable(root, 'evil', '#!/bin/sh\n');
  borrowed(copy, 'evil')((path) => join(root, path));
  const { exit, flags } = await ended;
  expect([exit.signal, flags]).toEqual(['SIGKILL', ['EXECUTABLE_REBOUND']]);
  bound.release();
});

test('what becomes of a path in between is told by name', async () => {
  const { root, at } = layOut();
  const bound = await bind(['way/tool'], { workspace: root });
  relinked('way', 'evil/bin', 'real/bin')(at);
  expect(() => bound.start({})).toThrow(/"way" in ".*" was renamed/);
  bound.release();
});

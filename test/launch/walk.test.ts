import { mkdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PathWalk } from '../../src/launch/linux/script/walk.ts';
import { workspace } from './harness.ts';

/** Where a walk looked, as `directory name`, inside the workspace alone. */
function looks(root: string, ...paths: string[]) {
  const seen: string[] = [];
  const walk = new PathWalk((directory, name) => seen.push(`${directory} ${name}`));
  const ends = paths.map((path) => walk.follow(path));
  const inside = seen.filter((look) => look.startsWith(root)).map((look) => look.slice(root.length));
  return { inside, end: ends.at(-1), all: seen, passed: [...walk.passed] };
}

function tree(): string {
  const root = realpathSync(workspace());
  mkdirSync(join(root, 'a/b'), { recursive: true });
  mkdirSync(join(root, 'other'));
  writeFileSync(join(root, 'a/b/file'), '');
  symlinkSync('a/b', join(root, 'relative'));
  symlinkSync(join(root, 'a'), join(root, 'absolute'));
  symlinkSync('../relative/../b/file', join(root, 'other', 'link'));
  symlinkSync('circle', join(root, 'circle'));
  return root;
}

describe('the walk of a path', () => {
  const root = tree();

  test('passes every directory from the root down, each name before it is looked up', () => {
    const { all, end } = looks(root, `${root}/a/b/file`);
    expect(all[0]).toBe(`/ ${root.split('/')[1]}`);
    expect(all.at(-1)).toBe(`${root}/a/b file`);
    expect(all).toHaveLength(root.split('/').length - 1 + 3);
    expect(end?.ino).toBe(statSync(`${root}/a/b/file`, { bigint: true }).ino);
  });

  test.each([
    ['relative/file', [' relative', ' a', '/a b', '/a/b file']],
    ['absolute/b/file', [' absolute', ' a', '/a b', '/a/b file']],
    ['other/link', [' other', '/other link', ' relative', ' a', '/a b', '/a/b file']],
    ['.//a/./b/../b/file', [' a', '/a b', '/a/b file']],
  ])('%s', (path, expected) => {
    const { inside, end } = looks(root, root, path);
    expect(inside).toEqual(expected);
    expect(end?.ino).toBe(statSync(join(root, 'a/b/file'), { bigint: true }).ino);
  });

  test('tells which objects a mount could cover', () => {
    const { passed } = looks(root, `${root}/relative/file`);
    expect(passed[0]).toBe('/');
    expect(passed.slice(-4)).toEqual([root, `${root}/a`, `${root}/a/b`, `${root}/a/b/file`]);
  });

  test('a circle of links ends as for the kernel', () => {
    expect(() => looks(root, `${root}/circle`)).toThrow(expect.objectContaining({ code: 'ELOOP' }));
  });

  test('above the root is the root', () => {
    expect(looks('/', '/../../..').end?.ino).toBe(statSync('/', { bigint: true }).ino);
  });
});

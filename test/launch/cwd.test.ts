import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OPEN_DIRECTORY } from '../../src/launch/linux/abi.ts';
import { walkBeneath } from '../../src/launch/linux/cwd.ts';
import { bind, bindFailure, finishRun, linux, portable, run, workspace } from './harness.ts';

function tree(): string {
  const root = workspace();
  mkdirSync(join(root, 'app/deep'), { recursive: true });
  mkdirSync(join(root, 'other'));
  writeFileSync(join(root, 'file'), '');
  symlinkSync('app', join(root, 'inside'));
  symlinkSync('/etc', join(root, 'evil'));
  symlinkSync('../..', join(root, 'app/up'));
  symlinkSync('circle', join(root, 'circle'));
  return root;
}

describe.each([linux, portable])('$kind: the directory of a command', (launcher) => {
  const root = tree();
  const options = { launcher, workspace: root };

  test.each([
    ['.', '.'],
    ['', '.'],
    ['app', 'app'],
    ['./app/', 'app'],
    ['inside/deep', 'app/deep'],
    ['app/../other', 'other'],
    [root, '.'],
    [`${root}/app/deep`, 'app/deep'],
  ])('%j is %j', async (requested, expected) => {
    const { stdout, facts } = await run(['pwd', '-P'], { ...options, cwd: requested });
    const path = join(root, expected);
    expect(stdout).toBe(`${path}\n`);
    const { dev, ino } = statSync(path, { bigint: true });
    expect(facts.cwd).toMatchObject({ requested, resolved: path, device: `${dev}`, inode: `${ino}` });
    if (launcher.kind === 'portable') return;
    const mount = /^mnt_id:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${openOnce(path)}`, 'utf8'))?.[1];
    expect(facts.cwd).toMatchObject({ method: 'openat2', mountId: mount });
    closeLast();
  });

  test.each(['..', '../', 'evil', 'app/up', 'app/../..', '/', '/etc', `${root}/../x`, `${root}-else`])(
    '%j is refused',
    async (requested) => {
      const failure = await bindFailure(['true'], { ...options, cwd: requested });
      expect(failure.code).toMatch(
        requested.endsWith('x') || requested.endsWith('-else') ? /CWD_(ESCAPES|NOT_FOUND)/ : /CWD_ESCAPES/,
      );
      expect(failure.cwd).toEqual({ requested });
    },
  );

  test('what is not there, no directory, or not to be entered', async () => {
    expect(await bindFailure(['true'], { ...options, cwd: 'missing' })).toMatchObject({
      kind: 'start-failed',
      code: 'CWD_NOT_FOUND',
    });
    expect((await bindFailure(['true'], { ...options, cwd: 'file' })).code).toBe('CWD_NOT_A_DIRECTORY');
    expect((await bindFailure(['true'], { launcher, workspace: join(root, 'none') })).code).toBe('CWD_NOT_FOUND');
    expect((await bindFailure(['true'], { ...options, cwd: 'app\0/../..' })).code).toBe('CWD_NOT_FOUND');
    expect((await bindFailure(['true'], { ...options, cwd: 'circle' })).code).toMatch(/CWD_(ESCAPES|UNREADABLE)/);
  });
});

const opened: number[] = [];
function openOnce(path: string): number {
  opened.push(openSync(path, 'r'));
  return opened.at(-1) ?? -1;
}
function closeLast(): void {
  for (const fd of opened.splice(0)) closeSync(fd);
}

describe('linux: the directory once bound', () => {
  test('a link swapped after the bind does not move the command', async () => {
    const root = tree();
    const bound = await bind(['pwd', '-P'], { workspace: root, cwd: 'inside' });
    rmSync(join(root, 'inside'));
    symlinkSync('/etc', join(root, 'inside'));
    expect((await finishRun(bound, bound.start({}))).stdout).toBe(`${root}/app\n`);
    bound.release();
  });

  test('a directory renamed after the bind is still the one', async () => {
    const root = tree();
    const bound = await bind(['ls'], { workspace: root, cwd: 'app' });
    renameSync(join(root, 'app'), join(root, 'moved'));
    mkdirSync(join(root, 'app'));
    writeFileSync(join(root, 'app/planted'), '');
    expect((await finishRun(bound, bound.start({}))).stdout).toBe('deep\nup\n');
    bound.release();
  });

  test('raced renames never lead out', async () => {
    const root = tree();
    let inside = 0;
    for (let round = 0; round < 200; round++) {
      rmSync(join(root, 'inside'));
      symlinkSync(round % 2 ? '/etc' : 'app', join(root, 'inside'));
      const outcome = await linux.bind({
        program: { mode: 'argv', argv: ['true'] },
        cwd: { workspace: root, requested: 'inside' },
        environment: [['PATH', '/usr/bin:/bin']],
        bindingOrder: ['none'],
        programsDirectory: root,
      });
      if (!outcome.ok) continue;
      inside++;
      expect(outcome.facts.cwd.resolved).toBe(`${root}/app`);
      outcome.release();
    }
    expect(inside).toBe(100);
  });
});

describe('the walk by components, where openat2 is refused', () => {
  const root = tree();
  chmodSync(join(root, 'other'), 0o755);
  const walk = (path: string) => {
    const start = openSync(root, OPEN_DIRECTORY);
    const before = readdirSync('/proc/self/fd').length;
    try {
      const fd = walkBeneath(start, path, path);
      const { ino } = statSync(`/proc/self/fd/${fd}`);
      closeSync(fd);
      return ino;
    } finally {
      expect(readdirSync('/proc/self/fd').length).toBe(before);
      closeSync(start);
    }
  };

  test.each([
    ['.', '.'],
    ['app/deep', 'app/deep'],
    ['./app//deep/../../other/.', 'other'],
  ])('%j is %j', (path, expected) => {
    expect(walk(path)).toBe(statSync(join(root, expected)).ino);
  });

  test.each(['..', 'app/../..', 'evil', 'inside', 'app/up'])('%j is refused', (path) => {
    expect(() => walk(path)).toThrow(expect.objectContaining({ code: 'CWD_ESCAPES' }));
  });

  test('what is not there, or no directory', () => {
    expect(() => walk('app/none')).toThrow(expect.objectContaining({ code: 'CWD_NOT_FOUND' }));
    expect(() => walk('file')).toThrow(expect.objectContaining({ code: 'CWD_NOT_A_DIRECTORY' }));
  });
});

import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bind, executable, finishRun, type Options, run, workspace } from './harness.ts';

/** What honest programs do beside, to and around a watched script. None of it may cost a clean receipt. */
async function clean(program: readonly string[], options: Options) {
  const { exit, flags, facts, stdout, stderr } = await run(program, options);
  expect(facts.script?.mode).toBe('watched');
  expect([facts.flags, flags, stderr, exit.exitCode]).toEqual([[], [], '', 0]);
  return stdout;
}

const SCRIPTS: ReadonlyArray<readonly [name: string, body: string]> = [
  ['writes files beside itself', 'for i in 1 2 3; do echo "$i" > "out$i"; done; mkdir -p deep/er; echo x >> out1'],
  [
    'makes and deletes temporary files in its directory',
    'for i in 1 2 3 4 5; do t=$(mktemp ./tmp.XXXXXX); mv $t $t.new; rm $t.new; done',
  ],
  ['is copied and linked elsewhere', 'cp "$0" copy; ln "$0" hard; ln -s "$0" soft; rm copy hard soft'],
  ['makes itself and a sibling executable', 'echo : > sibling; chmod +x sibling; chmod 700 "$0"; chmod 755 "$0"'],
  [
    'reads itself, searches and archives its directory',
    'cat "$0" >/dev/null; grep -r x . >/dev/null; tar cf ../a.tar . ; rm ../a.tar',
  ],
  [
    'runs git status and commits',
    'git init -q .; git add -A; git status >/dev/null; git -c user.name=x -c user.email=x@x commit -qm x',
  ],
  ['starts another copy of itself', '[ -n "$INNER" ] || INNER=1 "$0"'],
  [
    'replaces a neighbour whose name contains its own',
    'echo > tool.new; mv tool.new tool.old; echo > tool.new; mv tool.new tool.old',
  ],
];

describe('a script that', () => {
  test.each(SCRIPTS)('%s', async (_, body) => {
    const root = workspace();
    mkdirSync(join(root, 'bin'));
    executable(join(root, 'bin'), 'tool', `#!/bin/sh -e\n${body}\n`);
    await clean(['./tool'], { workspace: root, cwd: 'bin' });
  });

  test('has its times set anew, is linked and has its mode changed while it runs', async () => {
    const root = workspace();
    const path = executable(root, 'tool', '#!/bin/sh\nsleep 0.3\n');
    const bound = await bind(['./tool'], { workspace: root });
    utimesSync(path, 1, 1);
    const ended = finishRun(bound, bound.start({}));
    utimesSync(path, 2, 2);
    chmodSync(path, 0o700);
    linkSync(path, `${path}.link`);
    unlinkSync(`${path}.link`);
    const { flags, exit } = await ended;
    expect([flags, exit.exitCode]).toEqual([[], 0]);
    bound.release();
  });

  test('lies in /tmp while others work there', async () => {
    const path = executable(tmpdir(), `launch-test-${process.pid}.sh`, '#!/bin/sh\nsleep 0.4\n');
    const busy = spawn('/bin/sh', ['-c', 'while :; do t=$(mktemp); mv $t $t.x; rm $t.x; done'], { stdio: 'ignore' });
    try {
      await clean([path], { workspace: tmpdir() });
      await clean([`./${path.slice(tmpdir().length + 1)}`], { workspace: tmpdir() });
    } finally {
      busy.kill();
      rmSync(path);
    }
  });

  test.each(['linked/tool', 'absolute/tool', './way', './bin/../bin/tool'])('is reached as %s', async (program) => {
    const root = workspace();
    mkdirSync(join(root, 'bin'));
    executable(join(root, 'bin'), 'tool', '#!/bin/sh\necho > beside\n');
    symlinkSync('bin', join(root, 'linked'));
    symlinkSync(join(root, 'bin'), join(root, 'absolute'));
    symlinkSync('linked/tool', join(root, 'way'));
    await clean([program], { workspace: root });
  });

  test('is found in PATH, and through a working directory that is a link', async () => {
    const root = workspace();
    mkdirSync(join(root, 'bin'));
    symlinkSync('bin', join(root, 'linked'));
    executable(join(root, 'bin'), 'tool', '#!/bin/sh\necho > beside\n');
    const environment = { PATH: `${root}/linked:/usr/bin:/bin` };
    await clean(['tool'], { workspace: root, environment });
    await clean(['./tool'], { workspace: root, cwd: 'linked' });
  });

  test('is launched several times at once', async () => {
    const root = workspace();
    executable(root, 'tool', '#!/bin/sh\necho > "beside.$$"; sleep 0.1; rm "beside.$$"\n');
    await Promise.all(Array.from({ length: 12 }, () => clean(['./tool'], { workspace: root })));
  });

  test('ends before another launch of it goes on', async () => {
    const root = workspace();
    executable(root, 'tool', '#!/bin/sh\nsleep 0.2\n');
    const bound = await bind(['./tool'], { workspace: root });
    const ended = finishRun(bound, bound.start({}));
    await clean(['./tool'], { workspace: root });
    expect((await ended).flags).toEqual([]);
    bound.release();
  });
});

describe('programs of this machine', () => {
  test.skipIf(!existsSync('/usr/bin/npm'))('npm, through its links', async () => {
    const root = workspace();
    writeFileSync(join(root, 'package.json'), '{"scripts":{"x":"echo > out"}}');
    await clean(['/usr/bin/npm', 'run', '-s', 'x'], { workspace: root, environment: { ...process.env } as never });
  });

  const shims = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'shims');
  test.skipIf(!existsSync(join(shims, 'python3')))('a shim of pyenv', async () => {
    const environment = { PATH: `${shims}:${join(shims, '../bin')}:/usr/bin:/bin`, HOME: homedir() };
    await clean(['python3', '-c', 'print(1)'], { workspace: workspace(), environment });
  });

  test('a thing like such a shim, which makes itself anew under another name', async () => {
    const root = workspace();
    executable(
      root,
      'shim',
      '#!/bin/bash -e\ncp "$0" .shim-proto\nln -f .shim-proto other\nrm .shim-proto\nexec echo ok\n',
    );
    expect(await clean(['./shim'], { workspace: root })).toBe('ok\n');
    expect(readdirSync(root)).toContain('other');
  });

  test('a build that copies its own script', async () => {
    const root = workspace();
    copyFileSync('/bin/true', join(root, 'true'));
    executable(root, 'build', '#!/bin/sh -e\nmkdir -p out\ncp build out/build\n./true\nrm -r out\n');
    await clean(['./build'], { workspace: root });
    expect(execFileSync('ls', [root]).toString()).toBe('build\ntrue\n');
  });
});

import { execFileSync } from 'node:child_process';
import { fstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ReceiptsError } from '../../src/contract/index.ts';
import { commOf } from '../../src/launch/linux/proc-files.ts';
import { bind, executable, finishRun, linux, portable, run, until, workspace } from './harness.ts';

describe.each([linux, portable])('$kind: what became of the process', (launcher) => {
  const options = { launcher };

  test('true exits with 0, after it started and before now', async () => {
    const { exit, running } = await run(['true'], options);
    expect(exit).toMatchObject({ kind: 'exited', exitCode: 0, signal: null, coreDumped: false });
    expect(exit.monotonicNs).toBeGreaterThan(running.startedNs);
    expect(process.hrtime.bigint()).toBeGreaterThan(exit.monotonicNs);
  });

  test('its exit code is passed on', async () => {
    expect((await run(['sh', '-c', 'exit 3'], options)).exit).toMatchObject({ kind: 'exited', exitCode: 3 });
    expect((await run(['sh', '-c', 'exit 255'], options)).exit.exitCode).toBe(255);
  });

  test.each(['SIGTERM', 'SIGKILL', 'SIGABRT', 'SIGSEGV'])('it ends itself by %s', async (signal) => {
    const { exit } = await run(['sh', '-c', `kill -${signal.slice(3)} $$`], options);
    expect(exit).toMatchObject({ kind: 'signaled', exitCode: null, signal });
  });

  test('a signal reaches the whole group, and none a group that is gone', async () => {
    const bound = await bind(['sh', '-c', 'sleep 100 & echo ready; wait'], options);
    const running = bound.start({});
    const ended = finishRun(bound, running);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(running.signal('SIGTERM')).toBe(true);
    expect((await ended).exit).toMatchObject({ kind: 'signaled', signal: 'SIGTERM' });
    await until(() => !running.signal('SIGTERM'));
    bound.release();
  });

  test('stdout and stderr are apart, and argv and an empty argument arrive as they are', async () => {
    const { stdout, stderr } = await run(
      ['sh', '-c', 'printf "[%s]" "$@"; echo e >&2', 'name', 'a b', '', 'ü€', '*'],
      options,
    );
    expect(stdout).toBe('[a b][][ü€][*]');
    expect(stderr).toBe('e\n');
  });

  test('it gets the given environment and nothing else', async () => {
    const environment = { PATH: '/usr/bin:/bin', A: '1', EMPTY: '', 'ODD NAME': 'x=y\nz' };
    const { stdout } = await run(['env', '-0'], { ...options, environment });
    expect(stdout.split('\0').filter(Boolean)).toEqual(
      Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    );
  });

  test('signals that Node ignores are at their default again', async () => {
    const { stdout } = await run(['grep', '-E', 'Sig(Blk|Ign)', '/proc/self/status'], options);
    expect(stdout).toMatch(/SigBlk:\s+0{16}\nSigIgn:\s+0{16}/);
  });

  test('many at once, each with its own end', async () => {
    const codes = Array.from({ length: 40 }, (_, index) => index);
    const ends = await Promise.all(codes.map((code) => run(['sh', '-c', `exit ${code}`], options)));
    expect(ends.map(({ exit }) => exit.exitCode)).toEqual(codes);
  });

  test('children of child_process keep their own ends beside ours', async () => {
    const ours = run(['sh', '-c', 'sleep 0.2; exit 7'], options);
    expect(execFileSync('sh', ['-c', 'echo theirs']).toString()).toBe('theirs\n');
    expect((await ours).exit.exitCode).toBe(7);
  });
});

describe('linux: facts of the process', () => {
  test('start time, group, rusage and sandbox are what the kernel says', async () => {
    const bound = await bind(['sh', '-c', 'cat /proc/$$/stat; exit 0']);
    const running = bound.start({});
    const { stdout } = await finishRun(bound, running);
    bound.release();
    const fields = stdout.slice(stdout.lastIndexOf(')') + 2).split(' ');
    const facts = running.process();
    expect(facts).toMatchObject({ pid: running.pid, processGroup: running.pid, startTimeTicks: fields[19] });
    expect(facts.rusage?.maxRssKib).toBeGreaterThan(0);
    expect(running.sandbox().observed).toMatchObject({ noNewPrivs: false, seccomp: 0, landlock: 'none' });
    expect(running.sandbox().observed.capEff).toBe(
      /CapEff:\s*(\w+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1],
    );
  });

  test('the child sees stdio alone, pipes of ours that it can reopen', async () => {
    const bound = await bind(['sh', '-c', 'echo out > /dev/stdout; echo err > /dev/stderr; exec sleep 100']);
    const running = bound.start({});
    const ended = finishRun(bound, running);
    await until(() => commOf(running.pid) === 'sleep');
    expect(readdirSync(`/proc/${running.pid}/fd`)).toEqual(['0', '1', '2']);
    expect(readlinkSync(`/proc/${running.pid}/fd/1`)).toMatch(/^pipe:/);
    running.signal('SIGKILL');
    expect(await ended).toMatchObject({ stdout: 'out\n', stderr: 'err\n' });
    bound.release();
  });

  test('stdin is ours', async () => {
    const { stdout } = await run(['stat', '-Lc', '%d:%i', '/dev/stdin']);
    const { dev, ino } = fstatSync(0);
    expect(stdout.trim()).toBe(`${dev}:${ino}`);
  });

  test('/proc/self/exe is the file that was bound', async () => {
    const { stdout, facts } = await run(['readlink', '/proc/self/exe']);
    expect(statSync(stdout.trim(), { bigint: true }).ino.toString()).toBe(facts.executable.inode);
  });

  test('core dumps are off, the limit of open files is the one we were started under', async () => {
    const { stdout } = await run(['sh', '-c', 'ulimit -c; ulimit -Sn']);
    const soft = /Max open files +(\d+)/.exec(readFileSync(`/proc/${process.ppid}/limits`, 'utf8'))?.[1];
    expect(stdout).toBe(`0\n${soft}\n`);
    expect((await run(['sh', '-c', 'kill -SEGV $$'])).exit.coreDumped).toBe(false);
  });

  test('PWD is the directory it runs in, and absent if it was not given', async () => {
    const root = workspace();
    const environment = { PATH: '/usr/bin:/bin', PWD: '/elsewhere' };
    expect((await run(['printenv', 'PWD'], { workspace: root, environment })).stdout).toBe(`${root}\n`);
    expect((await run(['printenv', 'PWD'], { workspace: root })).stdout).toBe('');
  });

  test('a program that starts another at once is not taken for a rebinding', async () => {
    for (let round = 0; round < 40; round++) {
      const { flags, exit } = await run(['env', 'true']);
      expect(flags).toEqual([]);
      expect(exit.exitCode).toBe(0);
    }
  });

  test('a command that closes its pipes and goes on is waited for', async () => {
    const { exit } = await run(['sh', '-c', 'exec >&- 2>&-; sleep 0.3; exit 5']);
    expect(exit.exitCode).toBe(5);
  });

  test('a SIGCHLD that was lost among other signals is made up for', async () => {
    const bound = await bind(['sleep', '0.1']);
    const running = bound.start({});
    await new Promise((resolve) => setTimeout(resolve, 10));
    for (let sent = 0; sent < 10_000; sent++) process.kill(process.pid, 'SIGIO');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    expect((await finishRun(bound, running)).exit.exitCode).toBe(0);
    bound.release();
  });

  test('a bound command starts once', async () => {
    const bound = await bind(['true']);
    await finishRun(bound, bound.start({}));
    expect(() => bound.start({})).toThrow(ReceiptsError);
    bound.release();
    bound.release();
  });
});

describe('linux: what the system refuses', () => {
  test('arguments that are too large: E2BIG', async () => {
    const bound = await bind(['true', 'x'.repeat(200_000)]);
    expect(() => bound.start({})).toThrow(expect.objectContaining({ code: 'SPAWN_FAILED', errno: 'E2BIG' }));
    bound.release();
  });

  test('large arguments that the kernel takes', async () => {
    const { stdout } = await run(['sh', '-c', 'echo $#', ...Array.from({ length: 12 }, () => 'x'.repeat(100_000))]);
    expect(stdout).toBe('11\n');
  });

  test('a missing ELF interpreter is named as such, though the errno says ENOENT', async () => {
    const root = workspace();
    const bytes = readFileSync('/bin/true');
    const loader = bytes.indexOf('/lib64/ld-linux');
    bytes.write('/nolib', loader, 'latin1');
    executable(root, 'orphan', bytes);
    const bound = await bind(['./orphan'], { workspace: root });
    expect(() => bound.start({})).toThrow(
      expect.objectContaining({ errno: 'ENOENT', message: expect.stringContaining('loader') }),
    );
    bound.release();
  });
});

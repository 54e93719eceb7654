import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ByteSource } from '../../src/launch/index.ts';
import { bind, finishRun, linux, portable, until } from './harness.ts';

/** More than any pipe holds. */
const MEBIBYTES = 8;
const FLOOD = ['sh', '-c', `head -c ${MEBIBYTES * 1024 * 1024} /dev/zero; echo end >&2`] as const;

describe.each([linux, portable])('$kind: output', (launcher) => {
  test('more than a pipe holds arrives whole', async () => {
    const bound = await bind(FLOOD, { launcher });
    const running = bound.start({});
    const hash = createHash('sha256');
    let size = 0;
    const ended = new Promise((resolve) => {
      running.stdout.start({
        data(bytes) {
          hash.update(bytes);
          size += bytes.length;
          return true;
        },
        end: resolve,
      });
    });
    running.stderr.start({ data: () => true, end: () => {} });
    expect(await ended).toBe('eof');
    expect((await running.exit).exitCode).toBe(0);
    expect(size).toBe(MEBIBYTES * 1024 * 1024);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(Buffer.alloc(size)).digest('hex'));
    bound.release();
  });

  test('false pauses the command until resume', async () => {
    const bound = await bind(FLOOD, { launcher });
    const running = bound.start({});
    let size = 0;
    let open = false;
    const ended = new Promise((resolve) => {
      running.stdout.start({
        data(bytes) {
          size += bytes.length;
          return open;
        },
        end: resolve,
      });
    });
    running.stderr.start({ data: () => true, end: () => {} });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const paused = size;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(size).toBe(paused);
    expect(size).toBeLessThan(2 * 1024 * 1024);
    open = true;
    running.stdout.resume();
    expect(await ended).toBe('eof');
    expect(size).toBe(MEBIBYTES * 1024 * 1024);
    await running.exit;
    bound.release();
  });

  test('a closed read end ends the writer: by SIGPIPE from a pipe, by an error from child_process’s sockets', async () => {
    const bound = await bind(['sh', '-c', 'exec yes'], { launcher });
    const running = bound.start({});
    let seen = 0;
    running.stdout.start({
      data(bytes) {
        seen += bytes.length;
        return seen < 100_000;
      },
      end: () => {},
    });
    running.stderr.start({ data: () => true, end: () => {} });
    await until(() => seen > 0);
    running.stdout.close();
    const exit = await running.exit;
    if (launcher.kind === 'linux') expect(exit.signal).toBe('SIGPIPE');
    else expect(exit.exitCode).not.toBe(0);
    expect(seen).toBeGreaterThan(0);
    expect(running.stdout.drainAndClose()).toBe('eof');
    running.stderr.drainAndClose();
    bound.release();
  });

  test('a background process that holds the pipe does not keep its output from us', async () => {
    const bound = await bind(['sh', '-c', 'sleep 20 & echo before; exit 4'], { launcher });
    const running = bound.start({});
    const stdout = collect(running.stdout);
    const stderr = collect(running.stderr);
    expect((await running.exit).exitCode).toBe(4);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([stdout.ends, stderr.ends]).toEqual([0, 0]);
    if (launcher.kind === 'linux') {
      expect(running.holders('stdout')).toEqual([{ pid: expect.any(Number), comm: 'sleep' }]);
      expect(running.holders('stderr')).toHaveLength(1);
    } else {
      expect(running.holders('stdout')).toEqual([]);
    }
    expect(running.stdout.drainAndClose()).toBe('open');
    expect(running.stderr.drainAndClose()).toBe('open');
    expect(stdout.text()).toBe('before\n');
    expect([stdout.ends, stderr.ends]).toEqual([0, 0]);
    running.signal('SIGKILL');
    bound.release();
  });

  test('what is in the pipe of a paused stream is drained, and its end seen', async () => {
    const bound = await bind(['sh', '-c', 'head -c 200000 /dev/zero & wait; echo done >&2; exit 0'], { launcher });
    const running = bound.start({});
    let first = true;
    let size = 0;
    running.stdout.start({
      data(bytes) {
        size += bytes.length;
        const more = !first || size < 1;
        first = false;
        return more || size > 100_000;
      },
      end: () => {},
    });
    running.stderr.start({ data: () => true, end: () => {} });
    await new Promise((resolve) => setTimeout(resolve, 100));
    while (size < 130_000) {
      running.stdout.resume();
      await new Promise(setImmediate);
    }
    await running.exit;
    expect(running.stdout.drainAndClose()).toBe('eof');
    expect(size).toBe(200_000);
    running.stderr.drainAndClose();
    bound.release();
  });
});

function collect(source: ByteSource): { text(): string; ends: number } {
  const chunks: Buffer[] = [];
  const state = { text: () => Buffer.concat(chunks).toString(), ends: 0 };
  source.start({ data: (bytes) => chunks.push(Buffer.from(bytes)) > 0, end: () => void state.ends++ });
  return state;
}

test('linux: the parent goes on while commands run', async () => {
  const bound = await bind(['sleep', '0.3']);
  const ended = finishRun(bound, bound.start({}));
  let turns = 0;
  const timer = setInterval(() => turns++, 5);
  await ended;
  clearInterval(timer);
  expect(turns).toBeGreaterThan(20);
  bound.release();
});

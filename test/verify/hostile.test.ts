import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, ftruncateSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyPaths } from '../../src/verify/index.ts';
import { TaskBuilder, TRUST, temporaryDirectory } from './build-store.ts';
import { problems, problemsOf, verifyTask } from './problems.ts';

function oneCommand(): TaskBuilder {
  const task = new TaskBuilder();
  task.run({ stdout: { redacted: Buffer.from('output') } });
  return task.close();
}

/** Every file of a small store, and the code that its replacement is reported with. */
const PLACES: ReadonlyArray<readonly [string, (task: TaskBuilder) => string]> = [
  ['the journal', (task) => task.journal],
  ['the head', (task) => task.head],
  ['a receipt', (task) => task.receipt(0)],
  ['the chunks', (task) => join(task.directoryOf(0), 'chunks.jsonl')],
  ['a body', (task) => join(task.directoryOf(0), 'stdout.txt')],
];

const sparse = (path: string, size: number) => {
  const fd = openSync(path, 'w');
  ftruncateSync(fd, size);
  closeSync(fd);
};

const REPLACEMENTS: ReadonlyArray<readonly [string, (path: string) => unknown]> = [
  ['a FIFO', (path) => execFileSync('mkfifo', [path])],
  ['a directory', (path) => mkdirSync(path)],
  ['a link to nothing', (path) => symlinkSync('/nowhere', path)],
  ['a link to an endless device', (path) => symlinkSync('/dev/zero', path)],
  ['a link to itself', (path) => symlinkSync(path, path)],
  ['an empty file', (path) => writeFileSync(path, '')],
  ['50 MB of nothing', (path) => sparse(path, 50_000_000)],
  ['a terabyte of nothing', (path) => sparse(path, 2 ** 40)],
  ['deep nesting', (path) => writeFileSync(path, '['.repeat(5_000_000))],
  ['an endless line', (path) => writeFileSync(path, 'x'.repeat(20_000_000))],
];

describe.each(PLACES)('%s', (_place, pathOf) => {
  it.each(REPLACEMENTS)('replaced by %s is a problem that names it', async (_name, replace) => {
    const task = oneCommand();
    const path = pathOf(task);
    rmSync(path);
    replace(path);
    const verification = await verifyTask(task);
    expect(verification.exitCode).toBe(1);
    expect(problemsOf(verification).some(({ where }) => where.startsWith(path))).toBe(true);
    rmSync(task.store, { recursive: true });
  });

  it('that cannot be read is a problem that names it', async () => {
    const task = oneCommand();
    chmodSync(pathOf(task), 0);
    if (process.getuid?.() === 0) {
      for (const directory of [task.store, task.directory, join(task.directory, 'receipts'), task.directoryOf(0)])
        chmodSync(directory, 0o755);
      process.seteuid?.(65534);
    }
    try {
      const verification = await verifyTask(task);
      expect(problemsOf(verification).some(({ where }) => where.startsWith(pathOf(task)))).toBe(true);
    } finally {
      if (process.getuid?.() === 0) process.seteuid?.(0);
    }
  });
});

describe('places of directories', () => {
  it.each([
    ['receipts', (task: TaskBuilder) => join(task.directory, 'receipts')],
    ['a receipt', (task: TaskBuilder) => task.directoryOf(0)],
  ])('that hold a link are refused: %s', async (_name, pathOf) => {
    const task = oneCommand();
    const other = oneCommand();
    rmSync(pathOf(task), { recursive: true });
    symlinkSync(pathOf(other), pathOf(task));
    const found = await problems(task);
    expect(found.map((one) => one.split(' ')[0])).toContain('UNEXPECTED_FILE');
    expect(found.map((one) => one.split(' ')[0])).toContain('CHAIN_GAP');
  });

  it('that hold a file are refused', async () => {
    const task = oneCommand();
    rmSync(join(task.directory, 'receipts'), { recursive: true });
    writeFileSync(join(task.directory, 'receipts'), '');
    expect((await problems(task)).map((one) => one.split(' ')[0])).toContain('UNEXPECTED_FILE');
  });

  it('of a store that hold a link fail as a chain of their own', async () => {
    const task = oneCommand();
    symlinkSync(oneCommand().directory, join(task.store, 't-link'));
    const { chains, exitCode } = await verifyPaths([task.store], { trust: TRUST });
    expect(exitCode).toBe(1);
    expect(chains.map((chain) => chain.verified)).toEqual([true, false]);
  });

  it('of a store that hold a socket fail as well', async () => {
    const task = oneCommand();
    const server = createServer().listen(join(task.store, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    expect((await verifyTask(task)).exitCode).toBe(1);
    server.close();
  });

  it('with thousands of entries are judged, with as many problems as help', async () => {
    const task = oneCommand();
    for (let number = 0; number < 5_000; number++) writeFileSync(join(task.directory, `f${number}`), '');
    const [chain] = (await verifyTask(task)).chains;
    expect(chain?.problems).toHaveLength(100);
    expect(chain?.notes.at(-1)).toBe('4900 further problems are not listed');
    rmSync(task.store, { recursive: true });
  });

  it('with names that would leave the directory only ever name entries', async () => {
    const task = oneCommand();
    writeFileSync(join(task.directory, '..\n\u001b[2J'), '');
    expect((await verifyTask(task)).exitCode).toBe(1);
  });
});

it('a hostile input directory is an error or a problem, never an exception', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'receipts'));
  mkdirSync(join(directory, 'receipts', 'x'));
  writeFileSync(join(directory, 'receipts', 'x', 'receipt.dsse.json'), Buffer.from([0xff, 0xfe, 0x00]));
  const verification = await verifyPaths([directory], { trust: TRUST });
  expect(verification.exitCode).toBe(1);
});

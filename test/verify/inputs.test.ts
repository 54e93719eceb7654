import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Verification, verifyPaths } from '../../src/verify/index.ts';
import { buildWholeTask, type TaskBuilder, TRUST, temporaryDirectory } from './build-store.ts';
import { problemsOf } from './problems.ts';

const verify = (...paths: string[]): Promise<Verification> => verifyPaths(paths, { trust: TRUST });
const codes = (verification: Verification) => problemsOf(verification).map(({ code }) => code);
const errors = (verification: Verification) => verification.errors.map(({ code }) => code);

describe('a receipt given alone', () => {
  it('as its directory has its output checked', async () => {
    const task = buildWholeTask();
    writeFileSync(join(task.directoryOf(0), 'stdout.txt'), 'two\none\n');
    expect(codes(await verify(task.directoryOf(0)))).toEqual(['OUTPUT_DIGEST', 'OUTPUT_DIGEST', 'CHAIN_NOT_ASSESSED']);
  });

  it('as a file among its output has that checked', async () => {
    const task = buildWholeTask();
    rmSync(join(task.directoryOf(0), 'stdout.txt'));
    expect(codes(await verify(task.receipt(0)))).toEqual(['OUTPUT_MISSING', 'CHAIN_NOT_ASSESSED']);
  });

  it('as a file elsewhere says that its output was not', async () => {
    const task = buildWholeTask();
    const path = join(temporaryDirectory(), 'any-name.json');
    copyFileSync(task.receipt(0), path);
    const verification = await verify(path);
    expect(verification).toMatchObject({ ok: false, exitCode: 1, chains: [] });
    expect(verification.receipts[0]).toMatchObject({
      receiptId: task.receiptIds[0],
      verified: false,
      verdicts: { integrity: 'pass', signer: 'pass', completeness: 'not-assessed', policy: 'pass' },
      notes: ['output not checked: its files do not lie beside the receipt'],
    });
  });

  it('in a directory of another name is refused', async () => {
    const task = buildWholeTask();
    const other = join(temporaryDirectory(), 'other');
    cpSync(task.directoryOf(0), other, { recursive: true });
    expect(codes(await verify(other))).toEqual(['UNEXPECTED_FILE', 'CHAIN_NOT_ASSESSED']);
  });

  it('that fails for completeness itself says so', async () => {
    const task = buildWholeTask();
    task.run({ kind: 'lost' });
    const { receipts } = await verify(task.receipt(6));
    expect(receipts[0]?.verdicts.completeness).toBe('fail');
  });
});

describe('an input that cannot be judged', () => {
  /** Each makes its input in an empty directory, `made`, or names one. */
  const cases: Array<readonly [string, (made: string, task: TaskBuilder) => unknown, string]> = [
    ['nothing there', () => undefined, 'INPUT_UNREADABLE'],
    ['an empty path', () => '', 'INPUT_UNREADABLE'],
    ['an empty directory', (made) => mkdirSync(made), 'RECEIPT_NOT_FOUND'],
    [
      'a directory of other things',
      (made) => mkdirSync(join(made, 'src'), { recursive: true }) && made,
      'RECEIPT_NOT_FOUND',
    ],
    ['the receipts directory of a task', (_made, task) => join(task.directory, 'receipts'), 'RECEIPT_NOT_FOUND'],
    ['a FIFO', (made) => void execFileSync('mkfifo', [made]), 'INPUT_UNREADABLE'],
    ['a device', () => '/dev/zero', 'INPUT_UNREADABLE'],
    ['a link to nothing', (made) => symlinkSync('nowhere', made), 'INPUT_UNREADABLE'],
    [
      'a link to a link',
      (made, task) => symlinkSync(task.store, `${made}.next`) ?? symlinkSync('made.next', made),
      'INPUT_UNREADABLE',
    ],
    ['a path through a file', (made) => writeFileSync(made, '') ?? join(made, 'x'), 'INPUT_UNREADABLE'],
    [
      'a receipt directory without a receipt',
      (_made, task) => rmSync(task.receipt(0)) ?? task.directoryOf(0),
      'INPUT_UNREADABLE',
    ],
    ['a file larger than any receipt', (made) => writeFileSync(made, Buffer.alloc(9_000_000)), 'INPUT_TOO_LARGE'],
  ];
  it.each(cases)('%s is an error with a code, exit 2', async (_name, pathOf, code) => {
    const task = buildWholeTask();
    const made = join(temporaryDirectory(), 'made');
    const named = pathOf(made, task);
    const verification = await verify(typeof named === 'string' ? named : made, task.directory);
    expect(errors(verification)).toEqual([code]);
    expect(verification).toMatchObject({ ok: false, exitCode: 2 });
    expect(verification.errors[0]?.next).toBeTruthy();
    expect(verification.chains).toHaveLength(1);
  });

  it.each([
    ['nothing', []],
    ['working files', ['.gitignore', '.work']],
    ['a task that never began', ['.work', 't-unbegun']],
  ])('a store with %s is said to hold no receipts yet, and how to make one', async (_name, entries) => {
    const store = temporaryDirectory();
    for (const entry of entries) mkdirSync(join(store, entry));
    const { errors, exitCode } = await verify(store);
    expect([exitCode, errors]).toMatchObject([
      2,
      [{ code: 'RECEIPT_NOT_FOUND', message: 'this store holds no receipts yet' }],
    ]);
    expect(errors[0]?.next).toContain(`receipts run --store ${store} -- `);
  });

  it('no paths at all', async () => {
    expect(await verify()).toMatchObject({ exitCode: 2, errors: [{ code: 'USAGE' }] });
  });
});

describe('a link that the user names', () => {
  it('is followed once', async () => {
    const task = buildWholeTask();
    const link = join(temporaryDirectory(), 'link');
    symlinkSync(task.store, link);
    expect((await verify(link)).exitCode).toBe(0);
    const file = join(temporaryDirectory(), 'receipt');
    symlinkSync(task.receipt(0), file);
    expect(codes(await verify(file))).toEqual(['CHAIN_NOT_ASSESSED']);
  });
});

describe('a store', () => {
  it('may hold entries that begin with a dot, and files', async () => {
    const task = buildWholeTask();
    mkdirSync(join(task.store, '.work'));
    writeFileSync(join(task.store, '.gitignore'), '*\n');
    writeFileSync(join(task.store, 'README'), '');
    expect((await verify(task.store)).exitCode).toBe(0);
  });

  it('with a task directory that is empty does not verify', async () => {
    const task = buildWholeTask();
    mkdirSync(join(task.store, 't-empty'));
    expect(codes(await verify(task.store))).toEqual(['HEAD_MISSING', 'JOURNAL_BROKEN', 'CHAIN_EMPTY']);
  });

  it('that was moved verifies where it is', async () => {
    const task = buildWholeTask();
    const place = join(temporaryDirectory(), 'moved');
    renameSync(task.store, place);
    expect((await verify(place)).exitCode).toBe(0);
  });
});

import { copyFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/contract/index.ts';
import { verifyPaths } from '../../src/verify/index.ts';
import { buildWholeTask, TaskBuilder, TRUST, temporaryDirectory } from './build-store.ts';
import { codes, listOf, problems, twoCommands, verifyTask } from './problems.ts';

describe('receipts', () => {
  it('swapped between their directories', async () => {
    const task = twoCommands().close();
    const aside = `${task.directory}.aside`;
    renameSync(task.directoryOf(0), aside);
    renameSync(task.directoryOf(1), task.directoryOf(0));
    renameSync(aside, task.directoryOf(1));
    expect(await problems(task)).toEqual([
      `UNEXPECTED_FILE receipts/${task.receiptIds[0]}`,
      `UNEXPECTED_FILE receipts/${task.receiptIds[1]}`,
    ]);
  });

  it('of which the first, a middle or the last is gone', async () => {
    for (const number of [0, 2, 5]) {
      const task = buildWholeTask();
      rmSync(task.directoryOf(number), { recursive: true });
      expect(codes(await problems(task))).toEqual(['CHAIN_GAP']);
    }
  });

  it('of which only the envelope is gone', async () => {
    const task = twoCommands().close();
    rmSync(task.receipt(0));
    expect(codes(await problems(task))).toEqual(['CHAIN_GAP']);
  });

  it('replayed from another task of the same signer', async () => {
    const task = twoCommands().close();
    const other = twoCommands({ taskId: 'other', number: 2 }).close();
    cpSync(other.directoryOf(0), join(task.directory, 'receipts', other.receiptIds[0] ?? ''), { recursive: true });
    const path = `receipts/${other.receiptIds[0]}/receipt.dsse.json`;
    expect(await problems(task)).toEqual([
      `CHAIN_BROKEN ${path}#/chain/id`,
      `CHAIN_BROKEN ${path}#/task/id`,
      'JOURNAL_BROKEN journal.jsonl',
    ]);
  });

  it('put in the place of another one of the same chain', async () => {
    const task = twoCommands().close();
    copyFileSync(task.receipt(1), task.receipt(0));
    expect(codes(await problems(task))).toContain('UNEXPECTED_FILE');
  });

  it('that are unreadable do not make a gap beside their own problem', async () => {
    const task = buildWholeTask();
    writeFileSync(task.receipt(2), 'x');
    expect(await problems(task)).toEqual([`MALFORMED receipts/${task.receiptIds[2]}/receipt.dsse.json`]);
    const [chain] = (await verifyTask(task)).chains;
    expect(chain?.receipts[2]).toMatchObject({
      facts: null,
      receiptId: task.receiptIds[2],
      verdicts: { integrity: 'fail', completeness: 'not-assessed' },
    });
  });

  it('in a task of another name', async () => {
    const task = twoCommands().close();
    renameSync(task.directory, join(task.store, 't-0'));
    const verification = await verifyPaths([task.store], { trust: TRUST });
    expect(listOf(verification, task.store)).toEqual(['UNEXPECTED_FILE t-0']);
    const direct = await verifyPaths([join(task.store, 't-0')], { trust: TRUST });
    expect(direct.exitCode).toBe(0);
    expect(direct.chains[0]?.notes[0]).toContain('whose directory is named t-');
  });

  it('of another task id within the chain', async () => {
    const task = new TaskBuilder();
    task.run({}, (receipt) => Object.assign(receipt.task, { id: 'other' }));
    expect(codes(await problems(task.close()))).toEqual(['CHAIN_BROKEN']);
  });
});

describe('the head', () => {
  it('restored from before the last command', async () => {
    const task = new TaskBuilder();
    task.run();
    task.writeHead();
    const early = readFileSync(task.head);
    task.run();
    task.close();
    writeFileSync(task.head, early);
    expect(await problems(task)).toEqual(['CHAIN_BROKEN head.dsse.json#/count', 'CHAIN_OPEN head.dsse.json#/state']);
  });

  it('restored together with a journal and receipts cut to it is an open chain', async () => {
    const task = new TaskBuilder();
    task.run();
    task.writeHead();
    expect(await problems(task)).toEqual(['CHAIN_OPEN head.dsse.json#/state']);
    const [chain] = (await verifyTask(task)).chains;
    expect(chain?.problems[0]?.message).toContain('receipts close build');
  });

  it('of another task', async () => {
    const task = twoCommands().close();
    const other = twoCommands({ taskId: 'other', number: 2 }).close();
    copyFileSync(other.head, task.head);
    expect(codes(await problems(task))).toEqual(['CHAIN_BROKEN', 'CHAIN_GAP', 'JOURNAL_BROKEN', 'UNEXPECTED_FILE']);
  });

  it.each([
    ['more receipts than there are', { count: 3 }, 'CHAIN_GAP head.dsse.json#/count'],
    ['fewer receipts than there are', { count: 1 }, 'CHAIN_BROKEN head.dsse.json#/count'],
    ['another last receipt', { lastReceiptDigest: digestOf('x') }, 'CHAIN_BROKEN head.dsse.json#/lastReceiptDigest'],
    ['more lines than there are', { journalLines: 99 }, 'JOURNAL_BROKEN journal.jsonl:12'],
    ['fewer lines of a closed chain', { journalLines: 11 }, 'JOURNAL_BROKEN journal.jsonl:11'],
    ['no lines', { journalLines: 0 }, 'JOURNAL_BROKEN journal.jsonl:0'],
    ['another journal', { journalDigest: digestOf('x') }, 'JOURNAL_BROKEN journal.jsonl:12'],
    ['a date that does not exist', { signedAt: '2026-02-30T25:00:00.000Z' }, 'MALFORMED head.dsse.json#/signedAt'],
  ])('that states %s', async (_name, changes, expected) => {
    expect(await problems(twoCommands().close(changes))).toContain(expected);
  });

  it('that is a receipt, or of an unknown version', async () => {
    const task = twoCommands().close();
    const head = readFileSync(task.head);
    copyFileSync(task.receipt(0), task.head);
    expect(codes(await problems(task))).toEqual(['SCHEMA_UNSUPPORTED']);
    writeFileSync(task.head, head);
    task.writeHead({ state: 'closed', schema: 'command-receipts.head.v2' as never });
    expect(await problems(task)).toEqual(['SCHEMA_UNSUPPORTED head.dsse.json#/schema']);
  });

  it('that says closed where the journal does not', async () => {
    expect(await problems(twoCommands().writeHead({ state: 'closed' }))).toEqual(['JOURNAL_BROKEN journal.jsonl:11']);
  });

  it('with the bodies expired: a missing body is a fault before, a note after', async () => {
    const task = twoCommands().close({ bodiesExpireAt: '2026-06-01T00:00:00.000Z' });
    const body = join(task.directoryOf(0), 'stdout.txt');
    rmSync(body);
    expect(await problems(task, { now: new Date('2026-05-31T23:59:59Z') })).toEqual([
      `OUTPUT_MISSING receipts/${task.receiptIds[0]}/stdout.txt`,
    ]);
    const later = await verifyTask(task, { now: new Date('2026-06-01T00:00:01Z') });
    expect(later.exitCode).toBe(0);
    expect(later.chains[0]?.receipts[0]?.notes).toEqual(['body: expired']);
    writeFileSync(body, 'altered');
    expect(codes(await problems(task, { now: new Date('2027-01-01T00:00:00Z') }))).toEqual(['OUTPUT_DIGEST']);
  });
});

describe('copies', () => {
  it('of identical bytes collapse silently', async () => {
    const task = twoCommands().close();
    const copy = join(temporaryDirectory(), 'copy');
    cpSync(task.store, copy, { recursive: true });
    const verification = await verifyPaths(
      [task.store, copy, task.directory, task.store, task.receipt(0), task.directoryOf(1)],
      { trust: TRUST },
    );
    expect(verification).toMatchObject({ exitCode: 0, receipts: [] });
    expect(verification.chains).toHaveLength(1);
  });

  it('that were altered stay and fail by themselves', async () => {
    const task = twoCommands().close();
    const copy = join(temporaryDirectory(), 'copy');
    cpSync(task.store, copy, { recursive: true });
    writeFileSync(
      join(copy, task.directory.slice(task.store.length), 'receipts', task.receiptIds[0] ?? '', 'stdout.txt'),
      'First',
    );
    const verification = await verifyPaths([task.store, copy], { trust: TRUST });
    expect(verification.chains.map((chain) => chain.verified)).toEqual([true, false]);
  });
});

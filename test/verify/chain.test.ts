import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalText, digestOf } from '../../src/contract/index.ts';
import { verifyPaths } from '../../src/verify/index.ts';
import { buildWholeTask, TaskBuilder, TRUST, temporaryDirectory } from './build-store.ts';
import { listOf, problems, verifyTask } from './problems.ts';

function two(options: ConstructorParameters<typeof TaskBuilder>[0] = {}): TaskBuilder {
  const task = new TaskBuilder(options);
  task.run({ stdout: { redacted: Buffer.from('first') } });
  task.run({ stdout: { redacted: Buffer.from('second') } });
  return task;
}

const codes = (found: string[]) => [...new Set(found.map((one) => one.split(' ')[0]))].sort();

describe('receipts', () => {
  it('swapped between their directories', async () => {
    const task = two().close();
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
    const task = two().close();
    rmSync(task.receipt(0));
    expect(codes(await problems(task))).toEqual(['CHAIN_GAP']);
  });

  it('replayed from another task of the same signer', async () => {
    const task = two().close();
    const other = two({ taskId: 'other', number: 2 }).close();
    cpSync(other.directoryOf(0), join(task.directory, 'receipts', other.receiptIds[0] ?? ''), { recursive: true });
    const path = `receipts/${other.receiptIds[0]}/receipt.dsse.json`;
    expect(await problems(task)).toEqual([
      `CHAIN_BROKEN ${path}#/chain/id`,
      `CHAIN_BROKEN ${path}#/task/id`,
      'JOURNAL_BROKEN journal.jsonl',
    ]);
  });

  it('put in the place of another one of the same chain', async () => {
    const task = two().close();
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
    const task = two().close();
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
    const task = two().close();
    const other = two({ taskId: 'other', number: 2 }).close();
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
    expect(await problems(two().close(changes))).toContain(expected);
  });

  it('that is a receipt, or of an unknown version', async () => {
    const task = two().close();
    const head = readFileSync(task.head);
    copyFileSync(task.receipt(0), task.head);
    expect(codes(await problems(task))).toEqual(['SCHEMA_UNSUPPORTED']);
    writeFileSync(task.head, head);
    task.writeHead({ state: 'closed', schema: 'command-receipts.head.v2' as never });
    expect(await problems(task)).toEqual(['SCHEMA_UNSUPPORTED head.dsse.json#/schema']);
  });

  it('that says closed where the journal does not', async () => {
    expect(await problems(two().writeHead({ state: 'closed' }))).toEqual(['JOURNAL_BROKEN journal.jsonl:11']);
  });

  it('with the bodies expired: a missing body is a fault before, a note after', async () => {
    const task = two().close({ bodiesExpireAt: '2026-06-01T00:00:00.000Z' });
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

describe('the journal', () => {
  const lineTests: Array<readonly [string, (lines: string[]) => string[]]> = [
    ['a line dropped', (lines) => lines.toSpliced(4, 1)],
    ['the first line dropped', (lines) => lines.slice(1)],
    ['the last line dropped', (lines) => lines.slice(0, -1)],
    ['two lines swapped', (lines) => lines.toSpliced(3, 2, lines[4] ?? '', lines[3] ?? '')],
    ['a line twice', (lines) => lines.toSpliced(3, 0, lines[3] ?? '')],
    ['a line behind the end', (lines) => [...lines, lines.at(-1) ?? '']],
    ['an empty line', (lines) => lines.toSpliced(3, 0, '')],
    ['no line', () => []],
    ['a line that is no object', (lines) => lines.toSpliced(3, 1, '[]')],
    ['a line with another member', (lines) => lines.with(3, canonicalText({ ...JSON.parse(lines[3] ?? ''), more: 1 }))],
  ];
  it.each(lineTests)('with %s', async (_name, change) => {
    const task = two().close();
    writeFileSync(
      task.journal,
      change(task.lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
    const found = await problems(task);
    expect(codes(found)).toEqual(['JOURNAL_BROKEN']);
    expect(found[0]).toMatch(/^JOURNAL_BROKEN journal\.jsonl/);
  });

  it('torn at its end', async () => {
    const task = two().close();
    truncateSync(task.journal, readFileSync(task.journal).length - 10);
    expect(await problems(task)).toEqual(['JOURNAL_BROKEN journal.jsonl:12', 'JOURNAL_BROKEN journal.jsonl:11']);
  });

  const termination = { kind: 'exited', exitCode: 0, signal: null };
  const orders: Array<readonly [string, (task: TaskBuilder, id: string) => void]> = [
    [
      'STARTED before BOUND',
      (task, id) => ['REQUESTED', 'STARTED'].forEach((event) => void task.record(event as 'STARTED', {}, id)),
    ],
    [
      'TERMINATED without STARTED',
      (task, id) => {
        task.record('REQUESTED', {}, id);
        task.record('BOUND', {}, id);
        task.record('TERMINATED', { termination }, id);
      },
    ],
    [
      'TIMEOUT_KILL without TIMEOUT_TERM',
      (task, id) =>
        ['REQUESTED', 'BOUND', 'STARTED', 'TIMEOUT_KILL'].forEach(
          (event) => void task.record(event as 'STARTED', {}, id),
        ),
    ],
    ['a stage of nothing requested', (task, id) => task.record('BOUND', {}, id)],
    ['a stage after SEALED', (task) => task.record('TERMINATED', { termination }, task.receiptIds[0])],
    ['a stage of no receipt', (task) => task.record('REQUESTED', {})],
    ['OPENED again', (task) => task.record('OPENED', { taskId: 'build' })],
    [
      'TERMINATED without a termination',
      (task, id) => {
        for (const event of ['REQUESTED', 'BOUND', 'STARTED', 'TERMINATED'] as const) task.record(event, {}, id);
      },
    ],
    ['CLOSED twice', (task) => task.record('CLOSED', {})],
    ['CLOSED of a receipt', (task, id) => task.record('CLOSED', {}, id)],
  ];
  it.each(orders)('in an order that cannot be: %s', async (_name, record) => {
    const task = two();
    record(task, task.nextId());
    expect(codes(await problems(task.close()))).toEqual(['JOURNAL_BROKEN']);
  });

  it.each([
    ['another digest', { receiptDigest: digestOf('x') }],
    ['another place', { chainSequence: 7 }],
  ])('that sealed %s', async (_name, changes) => {
    const task = two();
    const line = JSON.parse(task.lines.pop() ?? '');
    task.record('SEALED', { ...line.facts, ...changes }, line.receiptId);
    expect(await problems(task.close())).toEqual(['JOURNAL_BROKEN journal.jsonl:11']);
  });

  it('that states another termination, start or timeout than the receipt', async () => {
    const other = new TaskBuilder();
    const id = other.nextId();
    for (const event of ['REQUESTED', 'BOUND', 'STARTED'] as const) other.record(event, {}, id);
    other.record('TERMINATED', { termination: { ...termination, exitCode: 1 } }, id);
    other.sealDraft(id, {});
    expect(await problems(other.close())).toEqual(['JOURNAL_BROKEN journal.jsonl:6']);
    const untimed = new TaskBuilder();
    const timed = untimed.draft(untimed.nextId(), { kind: 'timed-out' }).termination;
    for (const event of ['REQUESTED', 'BOUND', 'STARTED'] as const) untimed.record(event, {}, id);
    untimed.record('TERMINATED', { termination: timed }, id);
    untimed.sealDraft(id, { kind: 'timed-out' });
    expect(await problems(untimed.close())).toEqual(['JOURNAL_BROKEN journal.jsonl:6']);
  });

  it('of another task', async () => {
    const task = two().close();
    copyFileSync(two({ taskId: 'other', number: 2 }).close().journal, task.journal);
    expect(codes(await problems(task))).toEqual(['CHAIN_GAP', 'JOURNAL_BROKEN']);
  });
});

describe('an attempt without a receipt', () => {
  it.each([
    [['REQUESTED'], 'NEVER_STARTED', 'BOUND'],
    [['REQUESTED', 'BOUND'], 'NEVER_STARTED', 'STARTED'],
    [['REQUESTED', 'BOUND', 'STARTED'], 'MISSING_TERMINATED', 'TERMINATED'],
    [['REQUESTED', 'BOUND', 'STARTED', 'TIMEOUT_TERM', 'TIMEOUT_KILL'], 'MISSING_TERMINATED', 'TERMINATED'],
    [['REQUESTED', 'BOUND', 'STARTED', 'TERMINATED'], 'MISSING_TERMINATED', 'SEALED'],
    [['REQUESTED', 'UNKNOWN_TERMINATION', 'UNKNOWN_TERMINATION'], 'MISSING_TERMINATED', 'SEALED'],
  ] as const)('that went as far as %s names the first missing stage', async (events, code, missingStage) => {
    const task = two();
    const receiptId = task.nextId();
    for (const event of events) task.record(event, { termination: {} }, receiptId);
    mkdirSync(join(task.directory, 'receipts', receiptId));
    task.writeHead();
    const [chain] = (await verifyTask(task)).chains;
    expect(chain?.unsealed).toEqual([{ receiptId, lastStage: events.at(-1), missingStage }]);
    const problem = chain?.problems.find((one) => one.code === code);
    expect(problem?.where).toBe(`${task.journal}:12`);
    expect(problem?.message).toContain(`first missing stage: ${missingStage}`);
  });

  it('that recovery sealed is of unknown end, with a chain that holds', async () => {
    const task = two();
    task.run({ kind: 'lost' });
    const verification = await verifyTask(task.close());
    expect(codes(listOf(verification, task.directory))).toEqual([
      'FIELD_MISSING',
      'MISSING_TERMINATED',
      'UNKNOWN_TERMINATION',
    ]);
    expect(verification.chains[0]?.verdicts).toEqual({
      integrity: 'pass',
      signer: 'pass',
      completeness: 'fail',
      policy: 'not-assessed',
    });
    expect(verification.chains[0]?.problems).toEqual([]);
  });
});

describe('copies', () => {
  it('of identical bytes collapse silently', async () => {
    const task = two().close();
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
    const task = two().close();
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

import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalText, digestOf } from '../../src/contract/index.ts';
import { TaskBuilder } from './build-store.ts';
import { codes, listOf, problems, twoCommands, verifyTask } from './problems.ts';

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
    const task = twoCommands().close();
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
    const task = twoCommands().close();
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
    const task = twoCommands();
    record(task, task.nextId());
    expect(codes(await problems(task.close()))).toEqual(['JOURNAL_BROKEN']);
  });

  it.each([
    ['another digest', { receiptDigest: digestOf('x') }],
    ['another place', { chainSequence: 7 }],
  ])('that sealed %s', async (_name, changes) => {
    const task = twoCommands();
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
    const task = twoCommands().close();
    copyFileSync(twoCommands({ taskId: 'other', number: 2 }).close().journal, task.journal);
    expect(codes(await problems(task))).toEqual(['CHAIN_GAP', 'JOURNAL_BROKEN']);
  });
});

describe('an attempt without a receipt', () => {
  it.each([
    [['REQUESTED'], 'NEVER_STARTED', 'BOUND'],
    [['REQUESTED', 'BOUND'], 'MISSING_TERMINATED', 'STARTED'],
    [['REQUESTED', 'BOUND', 'STARTED'], 'MISSING_TERMINATED', 'TERMINATED'],
    [['REQUESTED', 'BOUND', 'STARTED', 'TIMEOUT_TERM', 'TIMEOUT_KILL'], 'MISSING_TERMINATED', 'TERMINATED'],
    [['REQUESTED', 'BOUND', 'STARTED', 'TERMINATED'], 'MISSING_TERMINATED', 'SEALED'],
    [['REQUESTED', 'UNKNOWN_TERMINATION', 'UNKNOWN_TERMINATION'], 'MISSING_TERMINATED', 'SEALED'],
  ] as const)('that went as far as %s names the first missing stage', async (events, code, missingStage) => {
    const task = twoCommands();
    const receiptId = task.nextId();
    for (const event of events) task.record(event, { termination: {} }, receiptId);
    mkdirSync(join(task.directory, 'receipts', receiptId));
    task.writeHead();
    const [chain] = (await verifyTask(task)).chains;
    expect(chain?.unsealed).toEqual([{ receiptId, lastStage: events.at(-1), missingStage }]);
    const problem = chain?.problems.find((one) => one.code === code);
    expect(problem?.where).toBe(`${task.journal}:12`);
    expect(problem?.message).toContain(`first missing stage: ${missingStage}`);
    expect(problem?.message.includes('not known whether a process existed')).toBe(events.at(-1) === 'BOUND');
  });

  it('that recovery sealed is of unknown end, with a chain that holds', async () => {
    const task = twoCommands();
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

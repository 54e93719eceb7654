import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import type { Head, JournalLine } from '../../src/contract/index.ts';
import { decodeEnvelope } from '../../src/contract/index.ts';
import {
  createSigner,
  type Locks,
  pidFileLocks,
  recoverTask,
  TaskStore,
  taskDirectoryName,
} from '../../src/evidence/index.ts';

const signer = createSigner(generateKeyPairSync('ed25519').privateKey, { custody: 'process-memory' });
const code = (expected: string) => expect.objectContaining({ code: expected });

function place(taskId = 'release/1', locks: Locks = pidFileLocks()) {
  const store = join(mkdtempSync(join(tmpdir(), 'receipts-store-')), 'store');
  const options = { store, taskId, signer, locks };
  const directory = join(store, taskDirectoryName(taskId));
  return {
    options,
    store,
    directory,
    journal: join(directory, 'journal.jsonl'),
    head: join(directory, 'head.dsse.json'),
  };
}

const lines = (path: string): JournalLine[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const headOf = (path: string): Head => JSON.parse(decodeEnvelope(readFileSync(path), path).payload.toString('utf8'));

describe('task', () => {
  it('never lets an id become a path', () => {
    for (const id of ['../../etc', '/abs', 'a/b', '.', 'con', 'x'.repeat(250)])
      expect(taskDirectoryName(id)).toMatch(/^t-[0-9a-f]{32}$/);
    const id = uuidv7();
    expect(taskDirectoryName(id)).toBe(id);
  });

  it('counts attempts per step and refuses a closed task before anything is begun', () => {
    const { options, directory, head } = place();
    const task = new TaskStore(options);
    const numbers = ['a', 'b', 'a', undefined].map((step) => {
      const attempt = task.begin(uuidv7(), step, () => ({ task: step === undefined ? {} : { step } }));
      attempt.recordLocked('SEALED', { chainSequence: 1, receiptDigest: 'sha256:' });
      attempt.abandon();
      return attempt.attempt;
    });
    expect(numbers).toEqual([1, 1, 2, 1]);
    task.close();
    expect(headOf(head).state).toBe('closed');
    expect(() => task.begin(uuidv7(), undefined, () => ({}))).toThrowError(code('TASK_CLOSED'));
    expect(() => new TaskStore(options)).toThrowError(code('TASK_CLOSED'));
    expect(existsSync(join(directory, 'receipts'))).toBe(true);
  });

  it('interleaves two writers in one chain', () => {
    const { options, journal } = place();
    const one = new TaskStore(options);
    const other = new TaskStore(options);
    one.begin(uuidv7(), 's', () => ({ task: { step: 's' } }));
    expect(other.begin(uuidv7(), 's', () => ({ task: { step: 's' } })).attempt).toBe(2);
    one.begin(uuidv7(), 's', () => ({ task: { step: 's' } }));
    expect(lines(journal).map(({ sequence, event }) => [sequence, event])).toEqual([
      [0, 'OPENED'],
      [1, 'REQUESTED'],
      [2, 'REQUESTED'],
      [3, 'REQUESTED'],
    ]);
  });

  it('cuts a torn last line and says so', () => {
    const { options, journal } = place();
    new TaskStore(options).begin(uuidv7(), undefined, () => ({}));
    appendFileSync(journal, '{"half":');
    new TaskStore(options).begin(uuidv7(), undefined, () => ({}));
    expect(lines(journal)[2]?.facts.tornBytesCut).toBe(8);
  });

  it('does not build on a journal that was changed', () => {
    const { options, journal } = place();
    new TaskStore(options).begin(uuidv7(), undefined, () => ({ note: 'before' }));
    writeFileSync(journal, readFileSync(journal, 'utf8').replace('before', 'aftter'));
    expect(() => new TaskStore(options)).toThrowError(code('STORE_CORRUPT'));
  });

  it('notices that its directory was replaced', () => {
    const { options, directory } = place();
    const task = new TaskStore(options);
    renameSync(directory, `${directory}.away`);
    expect(() => task.begin(uuidv7(), undefined, () => ({}))).toThrowError(code('STORE_UNWRITABLE'));
  });

  it('refuses a store that cannot be written', () => {
    const { options, store } = place();
    rmSync(store, { recursive: true, force: true });
    writeFileSync(store, 'a file');
    expect(() => new TaskStore(options)).toThrowError(code('STORE_UNWRITABLE'));
  });

  it('leaves live attempts alone when recovering', () => {
    const { options, directory } = place();
    const task = new TaskStore(options);
    task.begin(uuidv7(), undefined, () => ({}));
    const name = directory.split('/').at(-1) ?? '';
    expect(recoverTask(name, options).map(({ outcome }) => outcome)).toEqual(['still-running']);
  });
});

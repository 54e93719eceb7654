import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import type { Head, JournalLine } from '../../src/contract/index.ts';
import { decodeEnvelope, taskDirectoryName } from '../../src/contract/index.ts';
import { createSigner, type Locks, pidFileLocks, recoverTask, TaskStore } from '../../src/evidence/index.ts';

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
    task.begin(uuidv7(), undefined, () => ({}));
    renameSync(directory, `${directory}.away`);
    expect(() => task.begin(uuidv7(), undefined, () => ({}))).toThrowError(code('STORE_UNWRITABLE'));
  });

  it.each(['/proc/x', '/proc/self/x', '/sys/x', '/dev/null'])('refuses to keep evidence in %s', (store) => {
    const { options } = place();
    expect(() => new TaskStore({ ...options, store }).begin(uuidv7(), undefined, () => ({}))).toThrowError(
      code('STORE_UNWRITABLE'),
    );
  });

  it('refuses a store that cannot be written', () => {
    const { options, store } = place();
    rmSync(store, { recursive: true, force: true });
    writeFileSync(store, 'a file');
    expect(() => new TaskStore(options).begin(uuidv7(), undefined, () => ({}))).toThrowError(code('STORE_UNWRITABLE'));
  });

  it('leaves live attempts alone when recovering', () => {
    const { options, directory } = place();
    const task = new TaskStore(options);
    task.begin(uuidv7(), undefined, () => ({}));
    const name = directory.split('/').at(-1) ?? '';
    expect(recoverTask(name, options).map(({ outcome }) => outcome)).toEqual(['still-running']);
  });

  it('is as if it had never been when its first attempt cannot be recorded', () => {
    const { options, directory, store } = place();
    const refuse = () => {
      throw new Error('no facts');
    };
    expect(() => new TaskStore(options).begin(uuidv7(), undefined, refuse)).toThrowError('no facts');
    expect(existsSync(directory)).toBe(false);
    expect(readdirSync(join(store, '.work')).filter((name) => !name.endsWith('.lock'))).toEqual([]);
  });

  it('gives up on a lock that somebody holds for good', () => {
    const held: Locks = {
      ...pidFileLocks(),
      acquire: () => pidFileLocks().acquire(join(tmpdir(), 'no', 'such', 'directory')),
    };
    expect(() => new TaskStore(place('x', held).options).begin(uuidv7(), undefined, () => ({}))).toThrowError(
      code('STORE_UNWRITABLE'),
    );
  });
});

describe('recovery', () => {
  const requested = { task: { id: 'release/1', attempt: 1 }, flags: [], gaps: [], time: {}, argv: ['x'] };

  function crashed() {
    const at = place();
    const id = uuidv7();
    const task = new TaskStore({ ...at.options, locks: deadLocks() });
    task.begin(id, undefined, () => requested);
    const name = at.directory.split('/').at(-1) ?? '';
    return { ...at, id, name, task };
  }

  /** Locks of a process that is gone: nothing is held. */
  function deadLocks(): Locks {
    return { acquire: () => () => {}, tryAcquire: () => () => {} };
  }

  it('issues one receipt when two recover at once', () => {
    const { options, name, journal } = crashed();
    const slow: Locks = { ...options.locks };
    const first = recoverTask(name, { ...options, locks: slow });
    const second = recoverTask(name, options);
    expect([first.map(({ outcome }) => outcome), second]).toEqual([['recovered'], []]);
    expect(lines(journal).filter(({ event }) => event === 'SEALED')).toHaveLength(1);
  });

  it('looks again, under the lock, whether another recoverer was first', () => {
    const { options, name, journal } = crashed();
    const nested: unknown[] = [];
    const locks: Locks = {
      acquire: options.locks.acquire,
      tryAcquire(path) {
        nested.push(recoverTask(name, options));
        return options.locks.tryAcquire(path);
      },
    };
    expect(recoverTask(name, { ...options, locks })).toEqual([]);
    expect(nested[0]).toMatchObject([{ outcome: 'recovered' }]);
    expect(lines(journal).filter(({ event }) => event === 'SEALED')).toHaveLength(1);
  });

  it.each(['', '{"payload":"', 'x'.repeat(10)])('sets a receipt aside that was never finished: %j', (content) => {
    const { options, name, directory, id, store } = crashed();
    writeFileSync(join(directory, 'receipts', id, 'receipt.dsse.json'), content);
    expect(recoverTask(name, options).map(({ outcome }) => outcome)).toEqual(['recovered']);
    expect(readFileSync(join(store, '.work', `${id}.damaged`), 'utf8')).toBe(content);
  });

  it.each([
    ['REFUSED', undefined, 'BOUND'],
    ['START_FAILED', 'BOUND', 'STARTED'],
  ] as const)('names the stage that a process would have had next after %s', (event, before, missingStage) => {
    const { options, name, task, id } = crashed();
    task.locked(() => {
      if (before) task.journal.append(before, { flags: [], gaps: [] }, id);
      task.journal.append(event, { termination: {} }, id);
    });
    expect(recoverTask(name, options)).toMatchObject([{ outcome: 'recovered', missingStage }]);
  });

  it.each(['mkfifo', 'mkdir'])('is not held by a journal that is none: %s', (command) => {
    const { options, directory, journal } = place();
    mkdirSync(join(directory, 'receipts'), { recursive: true });
    execFileSync(command, [journal]);
    const recover = () => recoverTask(directory.split('/').at(-1) ?? '', options);
    expect(recover).toThrowError(expect.objectContaining({ code: expect.stringMatching(/^STORE_/) }));
    expect(() => new TaskStore(options)).toThrowError(
      expect.objectContaining({ code: expect.stringMatching(/^STORE_/) }),
    );
  });

  it('is not held by a head that is none', () => {
    const { options, head, name } = crashed();
    execFileSync('mkfifo', [head]);
    recoverTask(name, options);
    expect(headOf(head).count).toBe(1);
  });

  it('removes what an executor left that ended before its first line', () => {
    const { options, directory, journal } = place();
    mkdirSync(join(directory, 'receipts'), { recursive: true });
    writeFileSync(journal, '');
    expect(recoverTask(directory.split('/').at(-1) ?? '', options)).toEqual([]);
    expect(existsSync(directory)).toBe(false);
  });
});

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  decodeEnvelope,
  HEAD_FILE,
  JOURNAL_FILE,
  type JournalLine,
  parseCanonical,
  RECEIPTS_DIRECTORY,
  ReceiptsError,
  taskDirectoryName,
  type UnknownTermination,
} from '../contract/index.ts';
import { AttemptStore } from './attempt.ts';
import { makeDirectory } from './files.ts';
import { firstLine } from './journal.ts';
import type { AttemptState } from './journal-state.ts';
import { workFiles } from './layout.ts';
import type { Locks } from './lock.ts';
import { readRegularFile } from './read-file.ts';
import { receiptFromJournal } from './recovered-receipt.ts';
import type { Signer } from './signing.ts';
import { TaskStore } from './task.ts';

export interface Recovered {
  readonly taskId: string;
  readonly receiptId: string;
  readonly outcome: 'recovered' | 'seal-completed' | 'still-running';
  readonly missingStage?: 'BOUND' | 'STARTED' | 'TERMINATED' | 'SEALED';
  readonly path?: string;
}

export interface RecoveryOptions {
  readonly store: string;
  readonly signer: Signer;
  readonly locks: Locks;
}

/** Names of the task directories of a store. */
export function taskDirectories(store: string): string[] {
  if (!existsSync(store)) return [];
  return readdirSync(store, { withFileTypes: true })
    .filter(
      (entry) =>
        entry.isDirectory() && !entry.name.startsWith('.') && existsSync(join(store, entry.name, JOURNAL_FILE)),
    )
    .map((entry) => entry.name)
    .sort();
}

/**
 * Issues an honest receipt for every attempt of a task whose executor is gone, makes good what was cut off between two
 * durable steps, and leaves live attempts alone.
 */
export function recoverTask(directoryName: string, options: RecoveryOptions): Recovered[] {
  const directory = join(options.store, directoryName);
  const taskId = taskIdOf(directory);
  if (taskId === undefined) return removeUnbegun(directoryName, options);
  if (taskDirectoryName(taskId) !== directoryName)
    throw new ReceiptsError('STORE_CORRUPT', 'the journal names another task than its directory', {
      where: join(directory, JOURNAL_FILE),
      next: 'Verify the store with `receipts verify`.',
    });
  const task = new TaskStore({ ...options, taskId, closedIsFine: true });
  try {
    const pending = task.locked(() => task.journal.state.unsealed());
    const recovered = pending.flatMap((attempt) => recoverAttempt(task, attempt, options));
    if (recovered.every(({ outcome }) => outcome !== 'still-running')) bringUpToDate(task);
    return recovered;
  } finally {
    task.dispose();
  }
}

/** The attempt's lock is held throughout, and what another recoverer did meanwhile is looked at under it. */
function recoverAttempt(task: TaskStore, attempt: AttemptState, options: RecoveryOptions): Recovered[] {
  const { receiptId } = attempt;
  const base = { taskId: task.taskId, receiptId };
  const unlock = options.locks.tryAcquire(workFiles(options.store, receiptId).lock);
  if (unlock === undefined) return [{ ...base, outcome: 'still-running' }];
  const place = new AttemptStore(task, { ...options, taskId: task.taskId }, receiptId, 0, unlock);
  try {
    const state = task.locked(() => {
      if (attempt.sealed) return 'sealed';
      return task.completeInterruptedSeal(attempt) ? 'completed' : 'open';
    });
    if (state === 'sealed') return [];
    if (state === 'completed') return [{ ...base, outcome: 'seal-completed' }];
    return [{ ...base, outcome: 'recovered', ...issueUnknown(task, place, attempt, options) }];
  } finally {
    place.abandon();
  }
}

function issueUnknown(task: TaskStore, place: AttemptStore, attempt: AttemptState, options: RecoveryOptions) {
  const { receiptId } = attempt;
  const lines = [...attempt.lines];
  const missingStage = firstMissingStage(lines);
  const termination: UnknownTermination = { kind: 'unknown', exitCode: null, signal: null, missingStage };
  const recoveredBy = {
    keyId: options.signer.keyId,
    recoveredAt: task.clock.now().toISOString(),
    journal: task.journal.state.foreignLines > 0 ? ('unauthenticated' as const) : ('authenticated' as const),
  };
  place.setDamagedReceiptAside();
  place.dropBodies();
  place.recordLocked('UNKNOWN_TERMINATION', { termination, recoveredBy });
  const { path } = place.seal((chain) => receiptFromJournal({ receiptId, lines, chain, termination, recoveredBy }), {
    close: false,
  });
  return { missingStage, path };
}

function readHead(path: string): Buffer {
  const next = 'Verify the store with `receipts verify`.';
  return readRegularFile(path, { limit: 64 * 1024, code: 'STORE_CORRUPT', next });
}

/** An executor that ended before its first line was durable has left a place and no evidence. */
function removeUnbegun(directoryName: string, options: RecoveryOptions): Recovered[] {
  const work = workFiles(options.store, directoryName);
  makeDirectory(work.directory);
  const unlock = options.locks.tryAcquire(work.lock);
  if (unlock === undefined) return [];
  try {
    const directory = join(options.store, directoryName);
    if (taskIdOf(directory) !== undefined || readdirSync(join(directory, RECEIPTS_DIRECTORY)).length > 0) return [];
    rmSync(directory, { recursive: true });
  } finally {
    unlock();
  }
  return [];
}

/** Closes a task that nobody can come back to, and renews a head that a crash left behind its journal. */
function bringUpToDate(task: TaskStore): void {
  const { state } = task.journal;
  if (state.automatic && !state.closed && state.attempts.size > 0) {
    task.close();
    return;
  }
  const path = join(task.directory, HEAD_FILE);
  const head = existsSync(path) ? JSON.parse(decodeEnvelope(readHead(path), path).payload.toString('utf8')) : undefined;
  if (head?.journalDigest !== state.digest) task.locked(() => task.writeHead());
}

/** Undefined while the journal has no whole line. */
function taskIdOf(directory: string): string | undefined {
  const path = join(directory, JOURNAL_FILE);
  const text = firstLine(path);
  if (text === undefined) return undefined;
  const line = parseCanonical(Buffer.from(text, 'utf8'), `${path}:1`) as Partial<JournalLine> | null;
  return String(line?.facts?.taskId);
}

/** Of the stages that every process goes through, the first that the journal lacks. */
function firstMissingStage(lines: readonly JournalLine[]): 'BOUND' | 'STARTED' | 'TERMINATED' | 'SEALED' {
  const seen = new Set(lines.map((line) => line.event));
  if (seen.has('TERMINATED')) return 'SEALED';
  if (seen.has('STARTED')) return 'TERMINATED';
  return seen.has('BOUND') ? 'STARTED' : 'BOUND';
}

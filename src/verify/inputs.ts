import { type Dirent, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import {
  CHUNKS_FILE,
  errnoOf,
  isBodyFile,
  RECEIPT_FILE,
  ReceiptsError,
  shellWords,
  TASK_ENTRIES,
  WORK_DIRECTORY,
} from '../contract/index.ts';
import { kindOf } from './evidence-file.ts';

/** What a path given by the user turns out to be. */
export type Input =
  | {
      readonly kind: 'chains';
      readonly directories: readonly string[];
      readonly refused: readonly RefusedEntry[];
      readonly inStore: boolean;
    }
  | {
      readonly kind: 'receipt';
      readonly path: string;
      readonly directory: string | undefined;
      readonly named: boolean;
    };

/** An entry of a store that stands where a task directory belongs and is none: a link, FIFO or device. */
export interface RefusedEntry {
  readonly path: string;
  readonly message: string;
}

/** Throws INPUT_UNREADABLE for what cannot be looked at, RECEIPT_NOT_FOUND where nothing is to be verified. */
export function classify(given: string): Input {
  const { path, stats } = followOnce(given);
  if (stats.isFile()) return fileInput(path);
  if (!stats.isDirectory()) throw unreadable(given, `${kindOf(stats)}, neither a file nor a directory`);
  const entries = list(path);
  if (isTask(entries)) return { kind: 'chains', directories: [path], refused: [], inStore: false };
  if (isReceipt(entries)) return { kind: 'receipt', path: join(path, RECEIPT_FILE), directory: path, named: true };
  return storeInput(path, entries);
}

/** A link that the user names is followed once; links inside evidence never are. */
function followOnce(given: string): { path: string; stats: Stats } {
  const stats = look(given);
  if (!stats.isSymbolicLink()) return { path: given, stats };
  const path = resolve(dirname(given), readlinkSync(given));
  const target = look(path);
  if (target.isSymbolicLink()) throw unreadable(given, 'a link to a link');
  return { path, stats: target };
}

/** A receipt's file; with the other files of its directory beside it, these are evidence as well. */
function fileInput(path: string): Input {
  const directory = dirname(path);
  const evidence =
    basename(path) === RECEIPT_FILE && list(directory).some(({ name }) => name === CHUNKS_FILE || isBodyFile(name));
  return { kind: 'receipt', path, directory: evidence ? directory : undefined, named: false };
}

function storeInput(path: string, all: readonly Dirent[]): Input {
  // docs/format.md §4.1: entries that begin with a dot are not evidence.
  const entries = all.filter(({ name }) => !name.startsWith('.'));
  const directories = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
  const refused = entries.filter((entry) => !entry.isDirectory() && !entry.isFile());
  if (!directories.some((directory) => isTask(listOrNothing(directory))))
    throw isUnused(all) ? unused(path) : noEvidence(path);
  return {
    kind: 'chains',
    directories: directories.sort(),
    refused: refused.map((entry) => ({
      path: join(path, entry.name),
      message: `${kindOf(entry)} where a task directory belongs`,
    })),
    inStore: true,
  };
}

/** Nothing but working files: what a store is before its first receipt. */
function isUnused(all: readonly Dirent[]): boolean {
  return all.every(({ name }) => name.startsWith('.')) || all.some(({ name }) => name === WORK_DIRECTORY);
}

function unused(path: string): ReceiptsError {
  return new ReceiptsError('RECEIPT_NOT_FOUND', 'this store holds no receipts yet', {
    where: path,
    next: `Make one: receipts run --store ${shellWords([path])} -- COMMAND`,
  });
}

function noEvidence(path: string): ReceiptsError {
  return new ReceiptsError('RECEIPT_NOT_FOUND', 'neither a store nor a task, a receipt or its directory', {
    where: path,
    next: 'Name a store, a task directory, a receipt directory or a receipt.dsse.json.',
  });
}

function isTask(entries: readonly Dirent[]): boolean {
  return entries.some(({ name }) => TASK_ENTRIES.includes(name));
}

function isReceipt(entries: readonly Dirent[]): boolean {
  return entries.some(({ name }) => name === RECEIPT_FILE || name === CHUNKS_FILE);
}

function look(path: string): Stats {
  try {
    return lstatSync(path);
  } catch (error) {
    const errno = errnoOf(error);
    throw unreadable(
      path,
      errno === 'ENOENT' ? 'does not exist' : `cannot be looked at (${errno ?? 'unknown reason'})`,
    );
  }
}

function list(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    throw unreadable(path, `cannot be listed (${errnoOf(error) ?? 'unknown reason'})`);
  }
}

function listOrNothing(path: string): Dirent[] {
  try {
    return list(path);
  } catch {
    return [];
  }
}

function unreadable(path: string, message: string): ReceiptsError {
  return new ReceiptsError('INPUT_UNREADABLE', message, {
    where: path,
    next: 'Name an existing store, task directory or receipt that you can read.',
  });
}

import { join } from 'node:path';
import { sha256 } from '../contract/index.ts';

/** Names inside a store: docs/format.md §4. Entries that begin with a dot are working files, not evidence. */
export const HEAD_FILE = 'head.dsse.json';
export const JOURNAL_FILE = 'journal.jsonl';
export const RECEIPTS_DIRECTORY = 'receipts';
export const RECEIPT_FILE = 'receipt.dsse.json';
export const CHUNKS_FILE = 'chunks.jsonl';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A task id comes from outside and never becomes a path. */
export function taskDirectoryName(taskId: string): string {
  if (UUID.test(taskId)) return taskId;
  return `t-${sha256(`command-receipts/task/v1\n${taskId}`).toString('hex').slice(0, 32)}`;
}

/** Files of attempts in progress: gone once they are sealed. */
export function workFiles(store: string, name: string) {
  const base = join(store, '.work', name);
  return {
    directory: join(store, '.work'),
    lock: `${base}.lock`,
    reserve: `${base}.reserve`,
    chunks: `${base}.chunks`,
  };
}

export function receiptDirectory(taskDirectory: string, receiptId: string): string {
  return join(taskDirectory, RECEIPTS_DIRECTORY, receiptId);
}

import { join } from 'node:path';
import { RECEIPTS_DIRECTORY, WORK_DIRECTORY } from '../contract/index.ts';

/** Files of attempts in progress: gone once they are sealed. */
export function workFiles(store: string, name: string) {
  const directory = join(store, WORK_DIRECTORY);
  const file = (ending: string): string => join(directory, `${name}.${ending}`);
  return {
    directory,
    lock: file('lock'),
    reserve: file('reserve'),
    chunks: file('chunks'),
    /** A receipt that was found unfinished. */
    damaged: file('damaged'),
  };
}

export function receiptDirectory(taskDirectory: string, receiptId: string): string {
  return join(taskDirectory, RECEIPTS_DIRECTORY, receiptId);
}

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WORK_DIRECTORY } from '../contract/index.ts';
import type { Uploaded } from './upload.ts';

/** What post steps of one job have done with a task: each runs in a process of its own. */
export interface UploadRecord {
  readonly receipts: Uploaded | undefined;
  /** Null when no command printed anything. */
  readonly bodies: Uploaded | null | undefined;
  /** Uploads that failed. */
  readonly failures: number;
}

/** After this many failures later post steps leave the service alone: each try can take half a minute. */
const MOST_FAILURES = 2;

/** A working file of the store, so no evidence. It is believed only about what need not be done again. */
export function recordPath(store: string, taskDirectoryName: string): string {
  return join(store, WORK_DIRECTORY, `${taskDirectoryName}.upload.json`);
}

export function readRecord(path: string): UploadRecord {
  const nothing = { receipts: undefined, bodies: undefined, failures: 0 };
  if (!existsSync(path)) return nothing;
  try {
    return { ...nothing, ...(JSON.parse(readFileSync(path, 'utf8')) as Partial<UploadRecord>) };
  } catch {
    return nothing;
  }
}

export function isSettled({ receipts, bodies, failures }: UploadRecord): boolean {
  return (receipts !== undefined && bodies !== undefined) || failures >= MOST_FAILURES;
}

/** Durable before the step goes on: a later post step must not upload the same again. */
export function writeRecord(path: string, record: UploadRecord): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  const fd = openSync(temporary, 'w', 0o600);
  try {
    writeSync(fd, JSON.stringify(record));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, path);
}

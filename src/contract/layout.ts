import { sha256 } from './digest.ts';

/** Names inside a store: docs/format.md §4. Entries of a store that begin with a dot are working files, not evidence. */
export const HEAD_FILE = 'head.dsse.json';
export const JOURNAL_FILE = 'journal.jsonl';
export const RECEIPTS_DIRECTORY = 'receipts';
export const RECEIPT_FILE = 'receipt.dsse.json';
export const CHUNKS_FILE = 'chunks.jsonl';
export const WORK_DIRECTORY = '.work';

/** Everything that stands in a task directory. */
export const TASK_ENTRIES: readonly string[] = [JOURNAL_FILE, HEAD_FILE, RECEIPTS_DIRECTORY];

/** The retained output of a stream: in one file where nothing was dropped, else what was kept of its two ends. */
export type BodyPart = 'whole' | 'head' | 'tail';

export function bodyFile(stream: 'stdout' | 'stderr', part: BodyPart): string {
  return part === 'whole' ? `${stream}.txt` : `${stream}.${part}.txt`;
}

export function isBodyFile(name: string): boolean {
  return BODY_FILES.includes(name);
}

const BODY_FILES = (['stdout', 'stderr'] as const).flatMap((stream) =>
  (['whole', 'head', 'tail'] as const).map((part) => bodyFile(stream, part)),
);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A task id comes from outside and never becomes a path (§4.1). */
export function taskDirectoryName(taskId: string): string {
  if (UUID.test(taskId)) return taskId;
  return `t-${sha256(`command-receipts/task/v1\n${taskId}`).toString('hex').slice(0, 32)}`;
}

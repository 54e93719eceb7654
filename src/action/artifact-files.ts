import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  CHUNKS_FILE,
  HEAD_FILE,
  isBodyFile,
  JOURNAL_FILE,
  RECEIPT_FILE,
  RECEIPTS_DIRECTORY,
} from '../contract/index.ts';

/** The files of one task, as paths, by the artifact that they go into. */
export interface ArtifactFiles {
  /** Journal, head, receipts and chunk records: all that is signed or linked. */
  readonly receipts: readonly string[];
  /** What the commands printed, redacted. */
  readonly bodies: readonly string[];
  /** What has no place in a task's directory. */
  readonly leftOut: number;
}

const OF_TASK = new Set([JOURNAL_FILE, HEAD_FILE]);
const OF_RECEIPT = new Set([RECEIPT_FILE, CHUNKS_FILE]);

/**
 * docs/format.md §4. Commands of the job can write here: only regular files under the names that belong are taken, so that
 * a link planted in the store does not carry a file of the machine into an artifact.
 */
export function artifactFiles(taskDirectory: string): ArtifactFiles {
  const files = { receipts: [] as string[], bodies: [] as string[], leftOut: 0 };
  const take = (list: string[], entry: Dirent, directory: string): void => {
    if (entry.isFile()) list.push(join(directory, entry.name));
    else files.leftOut++;
  };
  for (const entry of readdirSync(taskDirectory, { withFileTypes: true })) {
    if (OF_TASK.has(entry.name)) take(files.receipts, entry, taskDirectory);
    else if (entry.name !== RECEIPTS_DIRECTORY || !entry.isDirectory()) files.leftOut++;
  }
  for (const { directory, entry } of receiptEntries(join(taskDirectory, RECEIPTS_DIRECTORY))) {
    if (entry === undefined) files.leftOut++;
    else if (OF_RECEIPT.has(entry.name)) take(files.receipts, entry, directory);
    else if (isBodyFile(entry.name)) take(files.bodies, entry, directory);
    else files.leftOut++;
  }
  return files;
}

/** Entries of the receipts' directories; without `entry` for what is no directory. */
function* receiptEntries(parent: string): Generator<{ directory: string; entry: Dirent | undefined }> {
  for (const receipt of readdirSync(parent, { withFileTypes: true })) {
    const directory = join(parent, receipt.name);
    if (!receipt.isDirectory()) yield { directory, entry: undefined };
    else for (const entry of readdirSync(directory, { withFileTypes: true })) yield { directory, entry };
  }
}

import { accessSync, constants, mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/** A new directory in memory where the system has a place for that: thousands of small files are nothing for a disk. */
export function memoryDirectory(otherwise) {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return mkdtempSync('/dev/shm/receipts-faults-');
  } catch {
    return mkdtempSync(join(otherwise, 'copies-'));
  }
}

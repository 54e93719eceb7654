import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { ReceiptsError } from '../contract/index.ts';

/** What Node puts in the place of bytes that are no UTF-8. */
const REPLACED = '\uFFFD';

/**
 * The command must be given the bytes that the user gave, and the receipt must tell of these. Node decodes arguments as UTF-8 and
 * silently replaces what is none, so the kernel is asked whether that happened. Throws ARGV_INVALID.
 */
export function refuseReplacedBytes(words: readonly string[]): void {
  if (process.platform !== 'linux' || !words.some((word) => word.includes(REPLACED))) return;
  if (isUtf8(readFileSync('/proc/self/cmdline'))) return;
  throw new ReceiptsError('ARGV_INVALID', 'an argument is not valid UTF-8 and cannot be passed on unchanged', {
    next: 'Put the command into a script, and run that.',
  });
}

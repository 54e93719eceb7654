import { asReceiptsError, errorLines, visible } from '../contract/index.ts';
import { redacted, redactedDeep } from './redaction.ts';

/* Everything of ours that is printed passes here: redacted, and with nothing in it that a terminal would obey. */

/** Our own words go to stderr: stdout belongs to the command, or to the one JSON document asked for. */
export function say(message: string): void {
  process.stderr.write(`receipts: ${visible(redacted(message))}\n`);
}

export function printError(error: unknown): void {
  const known = asReceiptsError(error);
  // A stack has lines of its own; in everything else a line end would be somebody's choice.
  const shown = known.code === 'INTERNAL' ? linesShown : (line: string) => visible(redacted(line));
  process.stderr.write(`receipts: ${known.code}: ${errorLines(known).map(shown).join('\n  ')}\n`);
}

/** What `--json` gives when there is no result. */
export function errorDocument(error: unknown) {
  const { code, message, where, next } = asReceiptsError(error);
  return { schema: 'command-receipts.error.v1', error: { code, message, where: where ?? null, next: next ?? null } };
}

/** The result that was asked for. Lines are made from values that `redactedDeep` has seen: a break can split a secret. */
export function print(lines: readonly string[]): void {
  process.stdout.write(`${redacted(lines.map(visible).join('\n'))}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(redactedDeep(value), null, 2)}\n`);
}

/** Where commander writes: its texts quote the words that it was given. */
export const COMMANDER_OUTPUT = {
  writeOut: (text: string) => void process.stdout.write(redacted(text)),
  writeErr: (text: string) => void process.stderr.write(linesShown(text)),
};

function linesShown(text: string): string {
  return redacted(text).split('\n').map(visible).join('\n');
}

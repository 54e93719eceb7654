import { asReceiptsError, errnoOf, errorLines, visible } from '../contract/index.ts';
import { redacted, redactedDeep } from './redaction.ts';

/** A terminal that does not say how wide it is, and the least that our lines can be wrapped to. */
const USUAL_WIDTH = 80;
const NARROWEST = 20;

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

/** Columns of the terminal that the result is shown on; undefined where it goes elsewhere. */
export function terminalWidth(): number | undefined {
  if (!process.stdout.isTTY) return undefined;
  return process.stdout.columns > 0 ? Math.max(process.stdout.columns, NARROWEST) : USUAL_WIDTH;
}

/** Where commander writes: its texts quote the words that it was given. */
export const COMMANDER_OUTPUT = {
  writeOut: (text: string) => void process.stdout.write(redacted(text)),
  writeErr: (text: string) => void process.stderr.write(linesShown(text)),
};

function linesShown(text: string): string {
  return redacted(text).split('\n').map(visible).join('\n');
}

/**
 * Watches whether what we print arrives. `receipts list | head` closes our output, and what is left unsaid then is no fault;
 * a full disk is one, and of what went to it nobody may believe that it is the whole.
 */
export function watchOutput(): { failed(): Promise<boolean> } {
  const faults: string[] = [];
  const streams = { stdout: process.stdout, stderr: process.stderr };
  for (const [name, stream] of Object.entries(streams))
    stream.on('error', (error) => {
      const errno = errnoOf(error) ?? 'unknown reason';
      if (!UNREAD.includes(errno)) faults.push(`${name} could not be written (${errno})`);
    });
  const handedOver = () => Promise.all(Object.values(streams).map(emptied));
  return {
    async failed() {
      await handedOver();
      if (faults.length === 0) return false;
      for (const fault of faults) say(fault);
      await handedOver();
      return true;
    },
  };
}

/** Nobody reads any more; a stream that failed before says so of each further write. */
const UNREAD = ['EPIPE', 'ERR_STREAM_DESTROYED'];

/** A pipe takes what its reader leaves room for: the rest has to be waited for, unless nobody reads any more. */
function emptied(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

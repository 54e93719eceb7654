import { ReceiptsError } from '../contract/index.ts';

/** Our own words go to stderr: stdout belongs to the command, or to the one JSON document asked for. */
export function say(message: string): void {
  process.stderr.write(`receipts: ${message}\n`);
}

export function printError(error: unknown): void {
  if (!(error instanceof ReceiptsError)) {
    say(`INTERNAL ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return;
  }
  const { code, message, where, next } = error;
  say(`${code}: ${message}${where === undefined ? '' : `\n  at ${where}`}${next === undefined ? '' : `\n  ${next}`}`);
}

/** What `--json` gives when there is no result. */
export function errorDocument(error: unknown) {
  const { code, message, where, next } =
    error instanceof ReceiptsError
      ? error
      : new ReceiptsError('INTERNAL', error instanceof Error ? error.message : String(error));
  return { schema: 'command-receipts.error.v1', error: { code, message, where: where ?? null, next: next ?? null } };
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/*
 * How the runner reads commands out of a step's output. Rules transcribed from actions/runner at 258d6c8:
 * src/Runner.Common/ActionCommand.cs (TryParseV2, TryParse, UnescapeData, Unescape) and
 * src/Runner.Worker/ActionCommandManager.cs (TryProcessCommand, ValidateStopToken, AddMaskCommandExtension).
 * Lines end at CR, LF or CRLF (StreamReader.ReadLine in ProcessInvoker.cs). Not followed: white space beyond ASCII before
 * `::`, and ACTIONS_ALLOW_UNSECURE_STOPCOMMAND_TOKENS.
 */

const MASK = 'add-mask';
const STOP = 'stop-commands';
const WATCHED: readonly string[] = [MASK, STOP];

/** Commands that the runner knows: a line that is one of them in the `::` form is not looked at in the `##[` form. */
const REGISTERED = new Set([
  MASK,
  STOP,
  ...['add-matcher', 'add-path', 'debug', 'echo', 'endgroup', 'error', 'group', 'notice', 'remove-matcher'],
  ...['save-state', 'set-env', 'set-output', 'warning'],
]);

interface WorkflowCommand {
  readonly name: string;
  readonly data: string;
}

/** The runner's state for one step: both of its streams share it. */
export class WorkflowCommands {
  #token: string | undefined;
  #watched: readonly string[] = WATCHED;

  /** Between `::stop-commands::TOKEN` and `::TOKEN::` everything is text. */
  get stopped(): boolean {
    return this.#token !== undefined;
  }

  /** Names in lower case, as bytes in Latin-1, whose lines have to be read whole. */
  get watched(): readonly string[] {
    return this.#watched;
  }

  knows(name: string): boolean {
    return REGISTERED.has(name) || name === this.#token;
  }

  /** Takes one line without its end; returns the value that it asks to mask, if any. */
  read(line: string): string | undefined {
    const command = parse(line, (name) => this.knows(name));
    if (command === undefined) return undefined;
    if (this.#token !== undefined) {
      if (command.name === this.#token) this.#resume();
      return undefined;
    }
    if (command.name === STOP) this.#stop(lowerCase(command.data));
    return command.name === MASK && command.data.trim() !== '' ? command.data : undefined;
  }

  #stop(token: string): void {
    if (token === '' || token === 'pause-logging' || REGISTERED.has(token)) return;
    this.#token = token;
    this.#watched = [Buffer.from(token, 'utf8').toString('latin1')];
  }

  #resume(): void {
    this.#token = undefined;
    this.#watched = WATCHED;
  }
}

/** The runner compares names without regard to case. */
export function lowerCase(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** A mask as the runner reads it back: `escapeData` of @actions/core. */
export function maskCommand(value: string): string {
  return `::${MASK}::${value.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}\n`;
}

function parse(line: string, knows: (name: string) => boolean): WorkflowCommand | undefined {
  return parseColons(line.replace(/^[\t\v\f ]+/, ''), knows) ?? parseBrackets(line, knows);
}

function parseColons(line: string, knows: (name: string) => boolean): WorkflowCommand | undefined {
  const end = line.startsWith('::') ? line.indexOf('::', 2) : -1;
  if (end < 0) return undefined;
  const name = nameOf(line.slice(2, end));
  return knows(name) ? { name, data: unescapeCodes(line.slice(end + 2), ['%0D', '%0A', '%25']) } : undefined;
}

function parseBrackets(line: string, knows: (name: string) => boolean): WorkflowCommand | undefined {
  const start = line.indexOf('##[');
  const end = start < 0 ? -1 : line.indexOf(']', start);
  if (end < 0) return undefined;
  const name = nameOf(line.slice(start + 3, end));
  return knows(name)
    ? { name, data: unescapeCodes(line.slice(end + 1), ['%3B', '%0D', '%0A', '%5D', '%25']) }
    : undefined;
}

function nameOf(info: string): string {
  return lowerCase(info.split(' ', 1)[0] ?? '');
}

/** In the runner's order, the percent sign last. */
function unescapeCodes(data: string, codes: readonly string[]): string {
  return codes.reduce(
    (text, code) => text.replaceAll(code, String.fromCharCode(Number.parseInt(code.slice(1), 16))),
    data,
  );
}

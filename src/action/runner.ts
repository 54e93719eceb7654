import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { asReceiptsError, errnoOf, errorLines } from '../contract/index.ts';
import type { ConsoleStream } from '../executor/index.ts';
import type { Redact } from './redaction.ts';

type FileCommand = 'OUTPUT' | 'STATE' | 'STEP_SUMMARY';

/**
 * What the runner reads from a step: commands on stdout, and the files that it names in the environment. Texts of ours pass
 * `redact` first. A file that cannot be written is said, and stops nothing.
 */
export class Runner {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #stdout: LineAwareConsole;
  redact: Redact;

  constructor(environment: NodeJS.ProcessEnv, stdout: LineAwareConsole, redact: Redact) {
    this.#environment = environment;
    this.#stdout = stdout;
    this.redact = redact;
  }

  info(message: string): void {
    this.#say(this.redact(message));
  }

  warning(message: string): void {
    this.#command('warning', 'Command Receipts', message);
  }

  error(message: string): void {
    this.#command('error', 'Command Receipts', message);
  }

  /** An error with its code, place and advice. */
  fail(error: unknown): void {
    const known = asReceiptsError(error);
    this.#command('error', known.code, errorLines(known).join('\n'));
  }

  /** Makes the runner hide these values in every log of the job from here on. */
  mask(values: readonly string[]): void {
    if (this.#environment.GITHUB_ACTIONS !== 'true') return;
    for (const value of values) this.#say(`::add-mask::${escapeData(value)}`);
  }

  outputs(values: Readonly<Record<string, string>>): void {
    this.#append('OUTPUT', keyValues(values), 'the outputs of this step');
  }

  /** For the post step of this use of the action; never a secret. */
  state(values: Readonly<Record<string, string>>): void {
    this.#append('STATE', keyValues(values), 'the state for the post step, which then cannot close the task');
  }

  summary(markdown: string): void {
    this.#append('STEP_SUMMARY', markdown, 'the job summary');
  }

  #command(name: 'error' | 'warning', title: string, message: string): void {
    this.#say(`::${name} title=${escapeProperty(title)}::${escapeData(this.redact(message))}`);
  }

  #say(line: string): void {
    this.#stdout.write(Buffer.from(`${this.#stdout.atLineStart ? '' : '\n'}${line}\n`, 'utf8'));
  }

  #append(command: FileCommand, text: string, what: string): void {
    const name = `GITHUB_${command}`;
    const path = this.#environment[name];
    // Outside Actions nobody asks for these files.
    if (!path && this.#environment.GITHUB_ACTIONS !== 'true') return;
    const problem = path ? appendTo(path, text) : 'it is not set';
    if (problem !== undefined) this.warning(`cannot write ${what}: ${name} cannot be used (${problem})`);
  }
}

/** Shows what is written, and knows whether the next byte begins a line: only there does the runner take a command. */
export class LineAwareConsole implements ConsoleStream {
  readonly #console: ConsoleStream;
  atLineStart = true;

  constructor(console: ConsoleStream) {
    this.#console = console;
  }

  write(bytes: Uint8Array): boolean {
    if (bytes.length > 0) this.atLineStart = bytes[bytes.length - 1] === 0x0a;
    return this.#console.write(bytes);
  }

  onDrain(listener: () => void): void {
    this.#console.onDrain(listener);
  }

  onClosed(listener: () => void): void {
    this.#console.onClosed(listener);
  }

  flush(): Promise<void> {
    return this.#console.flush();
  }
}

/** The runner has made the file: one that is not there was removed, and is not made again. */
function appendTo(path: string, text: string): string | undefined {
  try {
    const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND);
    try {
      writeSync(fd, text);
    } finally {
      closeSync(fd);
    }
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? 'unknown error';
  }
}

/** The form with a delimiter that no value can hold: EnvFileKeyValuePairs in the runner's FileCommandManager.cs. */
function keyValues(values: Readonly<Record<string, string>>): string {
  const delimiter = `ghadelimiter_${randomUUID()}`;
  return Object.entries(values)
    .map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
    .join('');
}

/** As @actions/core's command.ts has it. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

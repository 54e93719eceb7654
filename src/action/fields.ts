import { isLabel, LABEL_FORM, ReceiptsError } from '../contract/index.ts';

/** Reads the inputs of the action one by one and keeps what is wrong with each, so that all of it is said at once. */
export class InputFields {
  readonly faults: ReceiptsError[] = [];
  readonly #environment: NodeJS.ProcessEnv;

  constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment;
  }

  /** As `getInput` of @actions/core finds it, untrimmed; empty where it was not given. */
  raw(name: string): string {
    return this.#environment[inputVariable(name)] ?? '';
  }

  text(name: string): string {
    return this.raw(name).trim();
  }

  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  lines(name: string): string[] {
    return this.raw(name)
      .split(/\r\n|\r|\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }

  /** What YAML 1.2 takes for a boolean, like `getBooleanInput`. */
  flag(name: string, otherwise: boolean): boolean {
    const text = this.text(name);
    if (text === '') return otherwise;
    if (/^(true|True|TRUE)$/.test(text)) return true;
    if (!/^(false|False|FALSE)$/.test(text)) this.fault(name, 'is neither true nor false', 'Write true or false.');
    return false;
  }

  /** A name that goes into receipts: short and printable. */
  label(name: string): string | undefined {
    const text = this.optional(name);
    if (text !== undefined && !isLabel(text))
      this.fault(name, `takes ${LABEL_FORM}`, 'Choose a shorter, printable name.');
    return text;
  }

  fault(name: string, what: string, next: string): void {
    this.faults.push(new ReceiptsError('USAGE', `input ${name} ${what}`, { next }));
  }

  /** Runs a reader; what it throws becomes this input's fault. */
  async attempt<T>(name: string, read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ReceiptsError)) throw error;
      const { code, message, next } = error;
      this.faults.push(new ReceiptsError(code, `input ${name}: ${message}`, next === undefined ? {} : { next }));
      return undefined;
    }
  }
}

/** The variable in which the runner passes an input: Handler.AddInputsToEnvironment. */
export function inputVariable(name: string): string {
  return `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`;
}

import { encodedForms } from './encodings.ts';
import type { Literal } from './types.ts';

/** A shorter part would mask ordinary text everywhere. */
export const SHORTEST_LITERAL = 6;

/** Lines of a longer secret are masked as they are, without their encodings. */
const ENCODED_PARTS = 64;
const BRACKETS_ONLY = /^[\s{}[\](),:;"'<>]*$/;
const ONE_CHARACTER = /^(.)\1*$/su;
const QUOTED = /^(["'`])(.*)\1$/su;
const PLAIN_WORDS = new Set(['string', 'number', 'boolean', 'object', 'undefined', 'default', 'enabled', 'disabled']);

/** Every form of every literal that is to be masked, worked out once per literal. */
export class LiteralForms {
  readonly #forms = new Map<string, Uint8Array>();
  readonly #skipped = new Set<string>();

  constructor(literals: readonly Literal[] = []) {
    this.add(literals);
  }

  add(literals: readonly Literal[]): void {
    for (const { name, value } of literals) {
      const parts = partsOf(value);
      const maskable = parts.filter(isMaskable);
      if (maskable.length < parts.length || parts.length === 0) this.#skipped.add(name);
      for (const [index, part] of maskable.entries()) {
        for (const form of index < ENCODED_PARTS ? encodedForms(part) : [Buffer.from(part)]) {
          if (form.length >= SHORTEST_LITERAL) this.#forms.set(form.toString('latin1'), form);
        }
      }
    }
  }

  forms(): Uint8Array[] {
    return [...this.#forms.values()];
  }

  /** Names of literals with a part that is not masked, sorted. */
  skipped(): string[] {
    return [...this.#skipped].sort();
  }
}

/** The value, without surrounding space and quotes, with either line end, and each of its lines. */
function partsOf(value: string): string[] {
  const trimmed = value.trim();
  const parts = new Set([value, trimmed, QUOTED.exec(trimmed)?.[2]?.trim() ?? '']);
  const lines = value.split(/\r\n|\r|\n/);
  if (lines.length > 1) {
    parts.add(lines.join('\n'));
    parts.add(lines.join('\r\n'));
    for (const line of lines) {
      parts.add(line);
      parts.add(line.trim());
    }
  }
  return [...parts].filter((part) => part.trim() !== '');
}

/** A short part, brackets alone, or one repeated character would mask the structure of the output. */
function isMaskable(part: string): boolean {
  if (Buffer.byteLength(part) < SHORTEST_LITERAL) return false;
  return !BRACKETS_ONLY.test(part) && !ONE_CHARACTER.test(part) && !PLAIN_WORDS.has(part.toLowerCase());
}

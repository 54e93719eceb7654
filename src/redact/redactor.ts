import { redactArguments } from './argv.ts';
import { compileRuleset } from './compile.ts';
import { literalForms } from './literals.ts';
import { type Patterns, withLiterals } from './patterns.ts';
import { defaultRuleset } from './rules/index.ts';
import { type PatternSource, RedactingStream } from './stream.ts';
import type { Literal, Redactor, Ruleset, RulesetIdentity, StreamRedactor } from './types.ts';

/**
 * Compiles and self-tests the ruleset.
 *
 * @throws ReceiptsError `REDACTION_FAILED`, `where` naming the rule, when a rule does not redact its own example.
 */
export function createRedactor(options: { ruleset?: Ruleset; literals?: readonly Literal[] } = {}): Redactor {
  const { identity, patterns } = compileRuleset(options.ruleset ?? defaultRuleset);
  return new CompiledRedactor(identity, patterns, options.literals ?? []);
}

class CompiledRedactor implements Redactor {
  readonly ruleset: RulesetIdentity;
  readonly #base: Patterns;
  readonly #source: PatternSource;
  #literals: readonly Literal[] = [];
  #skipped: readonly string[] = [];

  constructor(identity: RulesetIdentity, base: Patterns, literals: readonly Literal[]) {
    this.ruleset = identity;
    this.#base = base;
    this.#source = { current: base };
    this.addLiterals(literals);
  }

  get skippedLiterals(): readonly string[] {
    return this.#skipped;
  }

  stream(): StreamRedactor {
    return new RedactingStream(this.#source);
  }

  text(input: string): string {
    const stream = new RedactingStream(this.#source);
    const head = stream.push(Buffer.from(input)).bytes;
    const tail = stream.finish(false).bytes;
    return Buffer.concat([head, tail]).toString();
  }

  argv(args: readonly string[]): string[] {
    return redactArguments(args, (input) => this.text(input));
  }

  addLiterals(literals: readonly Literal[]): void {
    if (literals.length === 0) return;
    this.#literals = [...this.#literals, ...literals];
    const { forms, skipped } = literalForms(this.#literals);
    this.#skipped = skipped;
    this.#source.current = withLiterals(this.#base, forms);
  }
}

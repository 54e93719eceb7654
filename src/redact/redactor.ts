import { redactArguments } from './argv.ts';
import { type CompiledRuleset, compileRuleset } from './compile.ts';
import { literalForms } from './literals.ts';
import { withLiterals } from './patterns.ts';
import { defaultRuleset } from './rules/index.ts';
import { type PatternSource, RedactingStream } from './stream.ts';
import type { Literal, Redactor, Ruleset, RulesetIdentity, StreamRedactor } from './types.ts';

/**
 * Compiles and self-tests the ruleset.
 *
 * @throws ReceiptsError `REDACTION_FAILED`, `where` naming the rule, when a rule does not redact its own example.
 */
export function createRedactor(options: { ruleset?: Ruleset; literals?: readonly Literal[] } = {}): Redactor {
  return new CompiledRedactor(compileRuleset(options.ruleset ?? defaultRuleset), options.literals ?? []);
}

class CompiledRedactor implements Redactor {
  readonly #ruleset: CompiledRuleset;
  readonly #source: PatternSource;
  #literals: readonly Literal[] = [];
  #skipped: readonly string[] = [];

  constructor(ruleset: CompiledRuleset, literals: readonly Literal[]) {
    this.#ruleset = ruleset;
    this.#source = { current: ruleset.patterns };
    this.addLiterals(literals);
  }

  get ruleset(): RulesetIdentity {
    return this.#ruleset.identity;
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
    this.#source.current = withLiterals(this.#ruleset.patterns, forms);
  }
}

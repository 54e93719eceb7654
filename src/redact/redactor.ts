import { redactArguments } from './argv.ts';
import { type CompiledRuleset, compileRuleset } from './compile.ts';
import { LiteralForms } from './literals.ts';
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
  return new CompiledRedactor(compileRuleset(options.ruleset ?? defaultRuleset), options.literals ?? []);
}

class CompiledRedactor implements Redactor {
  readonly #ruleset: CompiledRuleset;
  readonly #source: PatternSource;
  readonly #forms = new LiteralForms();
  #patterns: Patterns;
  #stale = false;

  constructor(ruleset: CompiledRuleset, literals: readonly Literal[]) {
    this.#ruleset = ruleset;
    this.#patterns = ruleset.patterns;
    const redactor = this;
    this.#source = {
      get current() {
        return redactor.#current();
      },
    };
    this.addLiterals(literals);
  }

  get ruleset(): RulesetIdentity {
    return this.#ruleset.identity;
  }

  get skippedLiterals(): readonly string[] {
    return this.#forms.skipped();
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
    this.#forms.add(literals);
    this.#stale = true;
  }

  /** Many masks may be registered between two reads: the automaton is built once for all of them. */
  #current(): Patterns {
    if (this.#stale) this.#patterns = withLiterals(this.#ruleset.patterns, this.#forms.forms());
    this.#stale = false;
    return this.#patterns;
  }
}

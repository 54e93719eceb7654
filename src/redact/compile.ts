import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { compilePatterns, type Patterns } from './patterns.ts';
import { LITERAL_ID, LONGEST_ID, replacementText } from './replacement.ts';
import { RedactingStream } from './stream.ts';
import type { Rule, Ruleset, RulesetIdentity } from './types.ts';
import { redactionFailed } from './view.ts';

const RULE_ID = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const compiled = new WeakMap<Ruleset, CompiledRuleset>();

/** A ruleset that redacts its own examples. */
export class CompiledRuleset {
  readonly patterns: Patterns;
  readonly #ruleset: Ruleset;
  #identity: RulesetIdentity | undefined;

  constructor(ruleset: Ruleset) {
    checkIds(ruleset.rules);
    this.#ruleset = ruleset;
    this.patterns = compilePatterns(ruleset.rules);
    selfTest(ruleset.rules, this.patterns);
  }

  /** Digested when first asked for: a command need not wait for it before it starts. */
  get identity(): RulesetIdentity {
    this.#identity ??= identify(this.#ruleset);
    return this.#identity;
  }
}

/** Compiles and self-tests a ruleset, once per ruleset object. */
export function compileRuleset(ruleset: Ruleset): CompiledRuleset {
  const known = compiled.get(ruleset);
  if (known !== undefined) return known;
  const result = new CompiledRuleset(ruleset);
  compiled.set(ruleset, result);
  return result;
}

function checkIds(rules: readonly Rule[]): void {
  const seen = new Set([LITERAL_ID]);
  for (const { id } of rules) {
    if (!RULE_ID.test(id) || id.length > LONGEST_ID || seen.has(id)) {
      throw redactionFailed(id, 'has an id that is malformed or taken');
    }
    seen.add(id);
  }
}

/** All examples in one stream, a line each: every rule must redact its own. Hooks are asked about real output only. */
function selfTest(rules: readonly Rule[], patterns: Patterns): void {
  const hasHooks = rules.some((rule) => rule.verify !== undefined);
  const current = hasHooks ? compilePatterns(rules.map(withoutHook)) : patterns;
  const stream = new RedactingStream({ current });
  const input = rules.map((rule) => `${rule.example.join('')}\n`).join('');
  const output = [stream.push(Buffer.from(input)), stream.end()].map((chunk) => Buffer.from(chunk.bytes).toString());
  const lines = output.join('').split('\n');
  for (const [i, { id }] of rules.entries()) {
    if (lines[i]?.includes(replacementText(id)) !== true) throw redactionFailed(id, 'does not redact its example');
  }
}

function withoutHook(rule: Rule): Rule {
  const { verify: _verify, ...data } = rule;
  return data;
}

function identify({ id, version, rules }: Ruleset): RulesetIdentity {
  const data = canonicalize({ id, version, rules: rules.map(withoutHook) }) ?? '';
  return { id, version, digest: `sha256:${createHash('sha256').update(data).digest('hex')}` };
}

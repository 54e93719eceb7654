import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { compilePatterns, type Patterns } from './patterns.ts';
import { LITERAL_ID } from './replacement.ts';
import { RedactingStream } from './stream.ts';
import type { Rule, Ruleset, RulesetIdentity } from './types.ts';
import { redactionFailed } from './view.ts';

export interface CompiledRuleset {
  readonly identity: RulesetIdentity;
  readonly patterns: Patterns;
}

const RULE_ID = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const compiled = new WeakMap<Ruleset, CompiledRuleset>();

/** Compiles and self-tests a ruleset, once per ruleset object. */
export function compileRuleset(ruleset: Ruleset): CompiledRuleset {
  const known = compiled.get(ruleset);
  if (known !== undefined) return known;
  checkIds(ruleset.rules);
  selfTest(ruleset.rules);
  const result = { identity: identify(ruleset), patterns: compilePatterns(ruleset.rules) };
  compiled.set(ruleset, result);
  return result;
}

function checkIds(rules: readonly Rule[]): void {
  const seen = new Set([LITERAL_ID]);
  for (const { id } of rules) {
    if (!RULE_ID.test(id) || seen.has(id)) throw redactionFailed(id, 'has an id that is malformed or taken');
    seen.add(id);
  }
}

/** Every rule must redact its own example. Hooks are left out: they are asked about real output only. */
function selfTest(rules: readonly Rule[]): void {
  const bare = rules.map(({ verify: _verify, ...data }) => data as Rule);
  const source = { current: compilePatterns(bare) };
  for (const rule of bare) {
    const stream = new RedactingStream(source);
    stream.push(Buffer.from(`${rule.example.join('')}\n`));
    stream.end();
    if (!stream.totals().hits.some((hit) => hit.type === rule.id))
      throw redactionFailed(rule.id, 'does not redact its example');
  }
}

function identify({ id, version, rules }: Ruleset): RulesetIdentity {
  const data = rules.map(({ verify: _verify, ...rule }) => rule);
  const digest = createHash('sha256')
    .update(canonicalize({ id, version, rules: data }) ?? '')
    .digest('hex');
  return { id, version, digest: `sha256:${digest}` };
}

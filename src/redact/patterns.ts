import { assignmentMatcher } from './assignment.ts';
import { Automaton } from './automaton.ts';
import { BLOCK_ANCHOR, blockMatcher } from './block.ts';
import { lowered } from './charset.ts';
import type { Matcher } from './opening.ts';
import { createPrefilter, PREFIX_BYTES, type Prefilter } from './prefilter.ts';
import { LITERAL_ID, replacementText } from './replacement.ts';
import { tokenMatcher } from './token.ts';
import { ByteTrie } from './trie.ts';
import type { Rule } from './types.ts';
import { URL_ANCHOR, urlMatcher } from './url.ts';
import { redactionFailed } from './view.ts';

/** Bytes one candidate may read, unless its rule says otherwise. */
const DEFAULT_BUDGET = 2048;

/** The pseudo rule of a replacement text that is already in the stream. */
export const REPLACEMENT_RULE = -1;

export interface CompiledRule {
  readonly index: number;
  readonly id: string;
  readonly budget: number;
  readonly match: Matcher;
}

/** Anchors by trie node. */
export interface AnchorSet {
  readonly trie: ByteTrie;
  readonly rules: ReadonlyMap<number, readonly CompiledRule[]>;
  /** ASCII letters match without case. */
  readonly folded: boolean;
}

/** Everything a stream matches against. Replaced as a whole when literals are added. */
export interface Patterns {
  /** Anchors that are part of what is redacted: a possible beginning is held back. */
  readonly hidden: AnchorSet;
  /** Anchors that stay visible: nothing is held back before the value. */
  readonly visible: AnchorSet;
  readonly prefilter: Prefilter;
  readonly literals: Automaton;
  /** Replacement ids by rule index; the literals' comes last. */
  readonly ids: readonly string[];
}

export function compilePatterns(rules: readonly Rule[]): Patterns {
  const ids = [...rules.map((rule) => rule.id), LITERAL_ID];
  const hidden = new AnchorList(false);
  const visible = new AnchorList(true);
  for (const id of ids) hidden.add(replacementText(id), replacementRule);
  for (const [index, rule] of rules.entries()) {
    const compiled = { index, id: rule.id, budget: rule.budget ?? DEFAULT_BUDGET, match: matcherOf(rule, index) };
    for (const anchor of anchorsOf(rule)) (isVisible(rule) ? visible : hidden).add(anchor, compiled);
  }
  const prefilter = createPrefilter([...hidden.beginnings, ...visible.beginnings]);
  return { hidden: hidden.build(), visible: visible.build(), prefilter, literals: new Automaton([]), ids };
}

export function withLiterals(base: Patterns, forms: readonly Uint8Array[]): Patterns {
  return { ...base, prefilter: base.prefilter.extended(forms), literals: new Automaton(forms) };
}

const replacementRule: CompiledRule = {
  index: REPLACEMENT_RULE,
  id: 'replacement',
  budget: DEFAULT_BUDGET,
  match: (_view, position, length) => ({ start: position, resume: position + length, swallow: undefined }),
};

function matcherOf(rule: Rule, index: number): Matcher {
  switch (rule.kind) {
    case 'token':
      return tokenMatcher(rule, index);
    case 'assignment':
      return assignmentMatcher(rule, index);
    case 'url-password':
      return urlMatcher(rule, index);
    case 'block':
      return blockMatcher(rule, index);
  }
}

function anchorsOf(rule: Rule): readonly string[] {
  switch (rule.kind) {
    case 'token':
      return rule.anchors;
    case 'assignment':
      return rule.keywords;
    case 'url-password':
      return [URL_ANCHOR];
    case 'block':
      return [BLOCK_ANCHOR];
  }
}

function isVisible(rule: Rule): boolean {
  return (
    rule.kind === 'assignment' || rule.kind === 'url-password' || (rule.kind === 'token' && rule.keepAnchor === true)
  );
}

class AnchorList {
  readonly beginnings: Buffer[] = [];
  readonly #rules: CompiledRule[] = [];
  readonly #folded: boolean;

  constructor(folded: boolean) {
    this.#folded = folded;
  }

  add(anchor: string, rule: CompiledRule): void {
    if (anchor.length < PREFIX_BYTES) throw redactionFailed(rule.id, `has an anchor below ${PREFIX_BYTES} bytes`);
    const bytes = Buffer.from(anchor);
    this.beginnings.push(this.#folded ? (bytes.map(lowered) as Buffer) : bytes);
    this.#rules.push(rule);
  }

  build(): AnchorSet {
    const trie = new ByteTrie(this.beginnings.reduce((sum, anchor) => sum + anchor.length, 0));
    const rules = new Map<number, CompiledRule[]>();
    for (const [i, anchor] of this.beginnings.entries()) {
      const rule = this.#rules[i];
      if (rule === undefined) continue;
      const node = trie.insert(anchor);
      const there = rules.get(node);
      if (there === undefined) rules.set(node, [rule]);
      else there.push(rule);
    }
    return { trie, rules, folded: this.#folded };
  }
}

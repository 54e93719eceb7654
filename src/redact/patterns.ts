import { assignmentMatcher } from './assignment.ts';
import { Automaton } from './automaton.ts';
import { BLOCK_ANCHOR, blockMatcher } from './block.ts';
import { byteTable, lowered } from './charset.ts';
import type { Matcher } from './opening.ts';
import { createPrefilter, PREFIX_BYTES, type Prefilter } from './prefilter.ts';
import { LITERAL_ID, LONGEST_ID, REPLACEMENT_START, replacementText } from './replacement.ts';
import { tokenMatcher } from './token.ts';
import { ByteTrie } from './trie.ts';
import type { Rule } from './types.ts';
import { URL_ANCHOR, urlMatcher } from './url.ts';
import { redactionFailed } from './view.ts';

/** Bytes one candidate may read, unless its rule says otherwise. */
const DEFAULT_BUDGET = 2048;

const CLOSING_BRACKET = 0x5d;
const ID_BYTE = byteTable('a-z0-9-');

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
  /** Replacement ids and texts by rule index; the literals' come last. */
  readonly ids: readonly string[];
  readonly texts: readonly Uint8Array[];
}

export function compilePatterns(rules: readonly Rule[]): Patterns {
  const ids = [...rules.map((rule) => rule.id), LITERAL_ID];
  const hidden = new AnchorList(false);
  const visible = new AnchorList(true);
  const texts = ids.map((id) => Buffer.from(replacementText(id)));
  hidden.add(REPLACEMENT_START, replacementRule(ids));
  for (const [index, rule] of rules.entries()) {
    const compiled = { index, id: rule.id, budget: rule.budget ?? DEFAULT_BUDGET, match: matcherOf(rule, index) };
    const anchors = isVisible(rule) ? visible : hidden;
    for (const anchor of anchorsOf(rule)) anchors.add(Buffer.from(anchor), compiled);
  }
  const prefilter = createPrefilter([...hidden.beginnings, ...visible.beginnings]);
  return { hidden: hidden.build(), visible: visible.build(), prefilter, literals: new Automaton([]), ids, texts };
}

export function withLiterals(base: Patterns, forms: readonly Uint8Array[]): Patterns {
  return { ...base, prefilter: base.prefilter.extended(forms), literals: new Automaton(forms) };
}

/** Finds the replacement texts of this ruleset; what merely looks like one is ordinary output. */
function replacementRule(ids: readonly string[]): CompiledRule {
  const known = new Set(ids);
  const match: Matcher = (view, position, length) => {
    view.hold = position;
    let id = '';
    for (let at = position + length; id.length <= LONGEST_ID; at++) {
      const byte = view.at(at);
      if (byte === CLOSING_BRACKET && known.has(id)) return { start: position, resume: at + 1, swallow: undefined };
      if (byte < 0 || ID_BYTE[byte] !== 1) return undefined;
      id += String.fromCharCode(byte);
    }
    return undefined;
  };
  return { index: REPLACEMENT_RULE, id: 'replacement', budget: DEFAULT_BUDGET, match };
}

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
  #length = 0;

  constructor(folded: boolean) {
    this.#folded = folded;
  }

  add(anchor: Buffer, rule: CompiledRule): void {
    if (anchor.length < PREFIX_BYTES) throw redactionFailed(rule.id, `has an anchor below ${PREFIX_BYTES} bytes`);
    if (this.#folded) for (let i = 0; i < anchor.length; i++) anchor[i] = lowered(anchor[i] as number);
    this.beginnings.push(anchor);
    this.#length += anchor.length;
    this.#rules.push(rule);
  }

  build(): AnchorSet {
    const trie = new ByteTrie(this.#length, this.beginnings.length);
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

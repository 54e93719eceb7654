import { endsSequence, LOOKBEHIND } from './boundary.ts';
import { lowered } from './charset.ts';
import { type Found, foundAt, type PositionMap, SAME_POSITIONS } from './found.ts';
import { LiteralMatcher } from './literal-matcher.ts';
import type { Opening } from './opening.ts';
import { type AnchorSet, type CompiledRule, type Patterns, REPLACEMENT_RULE } from './patterns.ts';
import { PREFIX_BYTES } from './prefilter.ts';
import { advance, type Progress, type Swallow } from './swallow.ts';
import { View } from './view.ts';
import type { Excerpt } from './window.ts';

const BLOCK_BYTES = 4096;
const NONE: readonly number[] = [];
const candidates = new Int32Array(BLOCK_BYTES);

/** A candidate whose rule asked for more bytes. Positions are absolute. */
interface Pending {
  readonly position: number;
  readonly length: number;
  readonly rule: CompiledRule;
  hold: number;
}

/** A match that is swallowing, or the last one that did: later ones inside it end where it ends. */
interface Swallowing extends Progress {
  readonly founds: readonly Found[];
  readonly start: number;
  end: number;
}

/**
 * Finds all matches in one stream of bytes. A match is a function of the whole stream and its own position alone,
 * so the set of matches cannot depend on how the stream was pushed.
 */
export class StreamMatcher {
  /** Absolute position of the first byte not yet fed. */
  end = 0;
  /** Absolute position before which every match's beginning is known. */
  hold = 0;
  /** Absolute position of the first byte that is needed again. */
  keepFrom = 0;
  #patterns: Patterns;
  readonly #sink: Found[];
  readonly #map: PositionMap;
  readonly #view = new View();
  #literals: LiteralMatcher;
  #pending: Pending[] = [];
  #swallowing = new Map<Swallow, Swallowing>();
  /** Where the search for anchors goes on. */
  #scanFrom = 0;

  constructor(patterns: Patterns, sink: Found[], map: PositionMap) {
    this.#patterns = patterns;
    this.#sink = sink;
    this.#map = map;
    this.#literals = new LiteralMatcher(patterns.literals, patterns.ids.length - 1);
  }

  /** Bytes looked at so far, for the proof that work is linear. */
  get steps(): number {
    return this.#view.steps + this.#literals.steps;
  }

  get isSwallowing(): boolean {
    return [...this.#swallowing.values()].some((one) => one.end < 0);
  }

  /** Rules with an open match of a kind. */
  openRules(kind: Swallow['kind']): number[] {
    const open = [...this.#swallowing.values()].filter((one) => one.end < 0 && one.swallow.kind === kind);
    return open.map((one) => one.swallow.rule);
  }

  /** The same state over another map, for a stream that differs from here on. */
  fork(map: PositionMap): StreamMatcher {
    const fork = new StreamMatcher(this.#patterns, this.#sink, map);
    fork.end = this.end;
    fork.hold = this.hold;
    fork.keepFrom = this.keepFrom;
    fork.#literals = this.#literals.copy();
    fork.#pending = this.#pending.map((pending) => ({ ...pending }));
    fork.#scanFrom = this.#scanFrom;
    for (const [swallow, one] of this.#swallowing) {
      const founds = one.founds.map((found) => ({ ...found, isTaken: false }));
      if (one.end < 0) this.#sink.push(...founds);
      fork.#swallowing.set(swallow, { ...one, founds });
    }
    return fork;
  }

  replacePatterns(patterns: Patterns, window: Excerpt): void {
    this.#patterns = patterns;
    this.#literals.replace(patterns.literals, window.bytes, window.base, this.#sink, this.#map);
  }

  /** Takes in what `window` has beyond what was fed before. */
  feed(window: Excerpt): void {
    this.#view.bytes = window.bytes;
    this.#resume(window);
    this.#scan(window);
    this.#settle(window);
  }

  /** No byte will follow; with `cut`, open beginnings of secrets are redacted. */
  finish(window: Excerpt, cut: boolean): void {
    this.#view.final = true;
    this.#view.cut = cut;
    this.feed(window);
    if (cut) this.#literals.finish(this.#sink, this.#map);
  }

  #resume(window: Excerpt): void {
    for (const one of this.#swallowing.values()) if (one.end < 0) this.#advance(one, window);
    const pending = this.#pending;
    this.#pending = [];
    for (const { rule, position, length } of pending) this.#ask(rule, position - window.base, length, window);
  }

  #scan(window: Excerpt): void {
    if (!this.#literals.isAsleep) this.#runLiterals(window, this.#literals.at, false);
    const stoppedAt = this.#scanAnchors(window);
    this.#scanFrom = window.base + stoppedAt;
    // The search for anchors may have stopped before the end; that for literals never does.
    const tail = Math.min(stoppedAt, window.bytes.length - PREFIX_BYTES + 1);
    this.#runLiterals(window, Math.max(this.#literals.at, window.base + tail), true);
  }

  /** Returns where an anchor may be incomplete, or the length of the window. */
  #scanAnchors(window: Excerpt): number {
    const { bytes, base } = window;
    const { prefilter } = this.#patterns;
    let from = this.#scanFrom - base;
    while (bytes.length - from >= PREFIX_BYTES) {
      const to = Math.min(bytes.length, from + BLOCK_BYTES);
      const count = prefilter.scan(bytes, from, to, candidates);
      for (let i = 0; i < count; i++) {
        const at = candidates[i] as number;
        if (this.#literals.at <= base + at) this.#runLiterals(window, base + at, false);
        if (!this.#tryAnchors(at, window)) return at;
      }
      from = to - PREFIX_BYTES + 1;
    }
    for (let at = from; at < bytes.length; at++) {
      if (!this.#tryAnchors(at, window)) return at;
    }
    return bytes.length;
  }

  #runLiterals(window: Excerpt, from: number, toEnd: boolean): void {
    this.#literals.run(window.bytes, window.base, from, toEnd, this.#sink, this.#map);
  }

  /** Asks the rules of all anchors at `at`; false when an anchor may be incomplete, and then none was asked. */
  #tryAnchors(at: number, window: Excerpt): boolean {
    const { hidden, visible } = this.#patterns;
    const hiddenEnds = this.#walk(hidden, at);
    const visibleEnds = this.#walk(visible, at);
    if (hiddenEnds === undefined || visibleEnds === undefined) return false;
    for (const node of hiddenEnds) this.#askAll(hidden, node, at, window);
    for (const node of visibleEnds) this.#askAll(visible, node, at, window);
    return true;
  }

  /** The nodes of all anchors that stand at `at`; undefined when a longer one may be standing there. */
  #walk(anchors: AnchorSet, at: number): readonly number[] | undefined {
    const { bytes, final } = this.#view;
    if (endsSequence(bytes, at + 1)) return NONE;
    let ends = NONE;
    let node = 0;
    let i = at;
    for (; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      const child = anchors.trie.child(node, anchors.folded ? lowered(byte) : byte);
      if (child === 0) break;
      node = child;
      if (anchors.rules.has(node)) ends = [...ends, node];
    }
    this.#view.steps += i - at + 1;
    return i === bytes.length && !final && anchors.trie.hasChildren(node) ? undefined : ends;
  }

  #askAll(anchors: AnchorSet, node: number, at: number, window: Excerpt): void {
    const length = anchors.trie.depths[node] as number;
    for (const rule of anchors.rules.get(node) ?? []) this.#ask(rule, at, length, window);
  }

  #ask(rule: CompiledRule, at: number, length: number, window: Excerpt): void {
    const view = this.#view;
    view.begin(rule.id, rule.budget);
    const opening = rule.match(view, at, length);
    if (view.need) {
      this.#pending.push({ rule, position: window.base + at, length, hold: window.base + view.hold });
    } else if (opening !== undefined) this.#open(rule, opening, window);
  }

  #open(rule: CompiledRule, { start, resume, swallow }: Opening, window: Excerpt): void {
    const from = window.base + start;
    if (rule.index === REPLACEMENT_RULE && this.#map !== SAME_POSITIONS) return;
    if (swallow === undefined) {
      const end = this.#map.toRaw(window.base + resume - 1) + 1;
      this.#sink.push(foundAt(this.#map.toRaw(from), end, rule.index));
      return;
    }
    const last = this.#swallowing.get(swallow);
    const isOpen = last !== undefined && last.end < 0;
    if (last !== undefined && from >= last.start && (isOpen || window.base + resume <= last.end)) return;
    const found = foundAt(this.#map.toRaw(from), Number.POSITIVE_INFINITY, rule.index);
    const founds = isOpen ? [found, ...last.founds] : [found];
    const one = { swallow, start: from, resume: window.base + resume, slashes: 0, end: -1, founds };
    this.#sink.push(found);
    this.#swallowing.set(swallow, one);
    this.#advance(one, window);
  }

  #advance(one: Swallowing, window: Excerpt): void {
    const { bytes, base } = window;
    const from = one.resume;
    one.resume -= base;
    const end = advance(one, bytes, this.#view.final);
    one.resume += base;
    this.#view.steps += (end < 0 ? one.resume : base + end) - from + 1;
    if (end < 0) return;
    one.end = base + end;
    for (const found of one.founds) found.ownEnd = found.end = this.#map.toRaw(one.end - 1) + 1;
  }

  #settle(window: Excerpt): void {
    const end = window.base + window.bytes.length;
    this.end = end;
    let hold = Math.min(end - this.#literals.depth, this.#anchorHold(window));
    let keep = Math.min(hold, this.#scanFrom);
    for (const pending of this.#pending) {
      hold = Math.min(hold, pending.hold);
      keep = Math.min(keep, pending.position);
    }
    for (const one of this.#swallowing.values()) if (one.end < 0) hold = Math.min(hold, one.resume);
    this.hold = hold;
    this.keepFrom = Math.max(0, Math.min(keep, hold) - LOOKBEHIND);
  }

  /** From where the unfinished anchors at the end of the window may come to be redacted. */
  #anchorHold(window: Excerpt): number {
    const { hidden, visible } = this.#patterns;
    for (let at = this.#scanFrom - window.base; at < window.bytes.length; at++) {
      const ends = this.#walk(hidden, at);
      if (ends === undefined || ends.length > 0) return window.base + at;
      const [node] = this.#walk(visible, at) ?? [];
      if (node !== undefined) return window.base + at + (visible.trie.depths[node] as number);
    }
    return window.base + window.bytes.length;
  }
}

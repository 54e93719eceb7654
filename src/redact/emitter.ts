import type { Found } from './found.ts';
import { Output } from './output.ts';
import { REPLACEMENT_RULE } from './patterns.ts';
import type { RedactedChunk } from './types.ts';
import { redactionFailed } from './view.ts';
import type { Window } from './window.ts';

/** Matches that overlap or touch, replaced by one text: that of the match which begins first and reaches farthest. */
interface Union {
  readonly start: number;
  /** Of the closed matches; open ones keep the union open. */
  end: number;
  rule: number;
  ownEnd: number;
}

/** Turns matches into redacted bytes, up to the position before which every match is known. */
export class Emitter {
  /** Where the matchers put what they find. */
  readonly found: Found[] = [];
  observed = 0;
  redacted = 0;
  removed = 0;
  inserted = 0;
  readonly hits = new Map<number, number>();
  /** Raw position up to which every byte is emitted or removed. */
  cursor = 0;
  #union: Union | undefined;
  readonly #texts: readonly Uint8Array[];

  /** `texts`: replacement texts by rule index. */
  constructor(texts: readonly Uint8Array[]) {
    this.#texts = texts;
  }

  /** Emits what is certain before `limit`; everything when `limit` is Infinity. */
  flush(window: Window, limit: number): RedactedChunk {
    const output = new Output(window);
    this.found.sort(byStart);
    while (this.#advance(output, limit, window.end));
    this.redacted += output.length;
    return output.finish();
  }

  /** One step; false when nothing more is certain. */
  #advance(output: Output, limit: number, end: number): boolean {
    if (this.#union !== undefined) return this.#continueUnion(this.#union, output, limit, end);
    const next = this.found[0];
    if (next !== undefined && next.start < this.cursor) throw redactionFailed('engine', 'found a match too late');
    if (next === undefined || next.start >= limit) {
      this.#copy(output, Math.min(limit, end));
      return false;
    }
    this.#copy(output, next.start);
    if (next.rule === REPLACEMENT_RULE) return this.#keepReplacement(next, output, limit);
    this.#union = { start: next.start, end: next.start, rule: next.rule, ownEnd: next.start };
    return true;
  }

  #continueUnion(union: Union, output: Output, limit: number, end: number): boolean {
    const isOpen = this.#absorb(union);
    // A match that begins right at the end still joins, so the byte there has to be decided as well.
    if (!isOpen && union.end < limit) {
      this.removed += union.end - this.cursor;
      this.cursor = union.end;
      this.#union = undefined;
      this.#replace(output, union.rule);
      return true;
    }
    const to = Math.min(isOpen ? limit : union.end, limit, end);
    if (to > this.cursor) this.removed += to - this.cursor;
    this.cursor = Math.max(this.cursor, to);
    return false;
  }

  /** Takes all matches that belong to the union; true when one of them is still swallowing. */
  #absorb(union: Union): boolean {
    let reach = union.end;
    let kept = 0;
    let i = 0;
    for (; i < this.found.length; i++) {
      const next = this.found[i] as Found;
      const isReplacement = next.rule === REPLACEMENT_RULE;
      if (next.start > reach || (isReplacement && next.start === reach)) break;
      reach = Math.max(reach, next.end);
      if (next.end === Number.POSITIVE_INFINITY) this.found[kept++] = next;
      else this.#take(union, next, isReplacement);
    }
    if (kept < i) this.found.splice(kept, i - kept);
    return reach === Number.POSITIVE_INFINITY;
  }

  #take(union: Union, next: Found, isReplacement: boolean): void {
    next.isTaken = true;
    union.end = Math.max(union.end, next.end);
    if (isReplacement || next.start !== union.start) return;
    const isLonger = next.ownEnd > union.ownEnd;
    if (!isLonger && (next.ownEnd < union.ownEnd || next.rule > union.rule)) return;
    union.rule = next.rule;
    union.ownEnd = next.ownEnd;
  }

  /** A replacement text that came with the stream stays, and matches inside it are none. */
  #keepReplacement(replacement: Found, output: Output, limit: number): boolean {
    const { end } = replacement;
    if (limit < end) return false;
    output.copyReplacement(this.cursor, end);
    this.cursor = end;
    this.found.shift();
    let kept = 0;
    let i = 0;
    for (; i < this.found.length; i++) {
      const next = this.found[i] as Found;
      if (next.start >= end) break;
      if (next.end <= end) continue;
      next.start = end;
      this.found[kept++] = next;
    }
    if (kept < i) this.found.splice(kept, i - kept);
    return true;
  }

  #copy(output: Output, to: number): void {
    if (to <= this.cursor) return;
    output.copy(this.cursor, to);
    this.cursor = to;
  }

  #replace(output: Output, rule: number): void {
    const text = this.#texts[rule] as Uint8Array;
    output.replace(text);
    this.inserted += text.length;
    this.hits.set(rule, (this.hits.get(rule) ?? 0) + 1);
  }
}

/** Of matches that begin together the longest comes first, so that a replacement text follows what contains it. */
function byStart(a: Found, b: Found): number {
  if (a.start !== b.start) return a.start - b.start;
  return a.end === b.end ? a.rule - b.rule : a.end > b.end ? -1 : 1;
}

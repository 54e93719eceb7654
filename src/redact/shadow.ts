import type { PositionMap } from './found.ts';
import type { StreamMatcher } from './matcher.ts';
import type { Patterns } from './patterns.ts';
import type { Swallow } from './swallow.ts';
import { Window } from './window.ts';

const NUL = 0x00;
const ESCAPE = 0x1b;
const BRACKET = 0x5b;
const LINE_FEED = 0x0a;

/** Every so many removed bytes in a row one becomes a line end: what is held back stays bounded. */
const LONGEST_GAP = 256;

/**
 * The stream as a terminal would show it: without CSI sequences and NULs. A token with a colour change inside, or
 * text in UTF-16, is found here and masked in the raw stream. Exists from the first such byte until, long after the
 * last one, it could find nothing that the raw matcher does not find.
 */
export class Shadow {
  readonly #matcher: StreamMatcher;
  readonly #window = new Window();
  readonly #map: GapMap;
  /** `escape`: an ESC was seen and may begin a CSI sequence. */
  #state: 'text' | 'escape' | 'sequence' = 'text';
  #gap = 0;

  /** Forks `raw`, which stands at the end of `window`. */
  constructor(raw: StreamMatcher, window: Window) {
    this.#map = new GapMap();
    this.#matcher = raw.fork(this.#map);
    this.#window.base = window.base;
    this.#window.append(window.bytes, window.base);
  }

  get steps(): number {
    return this.#matcher.steps;
  }

  openRules(kind: Swallow['kind']): number[] {
    return this.#matcher.openRules(kind);
  }

  /** The raw position before which this matcher knows everything; `end` is that of the raw stream. */
  hold(end: number): number {
    const { hold, isSwallowing } = this.#matcher;
    let known = hold < this.#window.end ? this.#map.toRaw(hold) : end;
    // A match that ends here does not reach over the bytes removed after its last one.
    if (isSwallowing) known = Math.min(known, this.#map.toRaw(hold - 1) + 1);
    return this.#state === 'escape' ? Math.min(known, end - 1) : known;
  }

  /** Whether both matchers depend on the same bytes from here on, so that neither can find what the other does not. */
  isRedundantTo(raw: StreamMatcher): boolean {
    if (this.#state !== 'text' || this.#matcher.isSwallowing || raw.isSwallowing) return false;
    return this.#map.lastGap < this.#matcher.keepFrom && this.#map.lastGapInRaw < raw.keepFrom;
  }

  feed(chunk: Uint8Array): void {
    this.#append(this.#strip(chunk));
    this.#matcher.feed(this.#window);
    this.#map.prune(this.#matcher.keepFrom);
  }

  finish(cut: boolean): void {
    if (this.#state === 'escape') this.#append(Buffer.from([ESCAPE]));
    this.#state = 'text';
    this.#matcher.finish(this.#window, cut);
  }

  replacePatterns(patterns: Patterns): void {
    this.#matcher.replacePatterns(patterns, this.#window);
  }

  #append(bytes: Uint8Array): void {
    this.#window.append(bytes, this.#matcher.keepFrom);
  }

  #strip(chunk: Uint8Array): Uint8Array {
    const kept = Buffer.allocUnsafe(chunk.length + 1);
    const from = this.#window.end;
    let length = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i] as number;
      if (this.#state === 'escape') {
        if (byte === BRACKET) {
          this.#state = 'sequence';
          if (this.#remove(from + length, 2)) kept[length++] = LINE_FEED;
          continue;
        }
        this.#state = 'text';
        this.#gap = 0;
        kept[length++] = ESCAPE;
      }
      if (this.#isKept(byte)) {
        this.#gap = 0;
        kept[length++] = byte;
      } else if (byte !== ESCAPE && this.#remove(from + length, 1)) kept[length++] = LINE_FEED;
    }
    return kept.subarray(0, length);
  }

  /** Moves the state on; an ESC is neither kept nor removed before the byte after it is known. */
  #isKept(byte: number): boolean {
    if (this.#state === 'sequence') {
      if (byte >= 0x20 && byte <= 0x3f) return false;
      this.#state = 'text';
      if (byte >= 0x40 && byte <= 0x7e) return false;
    }
    if (byte === ESCAPE) this.#state = 'escape';
    return byte !== ESCAPE && byte !== NUL;
  }

  /** True when the last of the removed bytes has to be replaced by a line end instead. */
  #remove(position: number, count: number): boolean {
    this.#gap += count;
    const isTooLong = this.#gap >= LONGEST_GAP;
    if (isTooLong) this.#gap = 0;
    this.#map.add(position, isTooLong ? count - 1 : count);
    return isTooLong;
  }
}

/** Where bytes were removed, as positions in the shadow, and how many in all up to there. */
class GapMap implements PositionMap {
  #positions: number[] = [];
  #removed: number[] = [];
  #removedBefore = 0;

  get lastGap(): number {
    return this.#positions.at(-1) ?? -1;
  }

  get lastGapInRaw(): number {
    return this.lastGap + (this.#removed.at(-1) ?? this.#removedBefore);
  }

  add(position: number, count: number): void {
    const total = (this.#removed.at(-1) ?? this.#removedBefore) + count;
    if (this.lastGap === position) this.#removed[this.#removed.length - 1] = total;
    else {
      this.#positions.push(position);
      this.#removed.push(total);
    }
  }

  toRaw(position: number): number {
    let low = 0;
    let high = this.#positions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#positions[middle] as number) <= position) low = middle + 1;
      else high = middle;
    }
    return position + (low === 0 ? this.#removedBefore : (this.#removed[low - 1] as number));
  }

  /** Forgets all but the last of the gaps before `position`. */
  prune(position: number): void {
    let count = 0;
    while (count + 1 < this.#positions.length && (this.#positions[count + 1] as number) < position) count++;
    if (count === 0) return;
    this.#removedBefore = this.#removed[count - 1] as number;
    this.#positions = this.#positions.slice(count);
    this.#removed = this.#removed.slice(count);
  }
}

import { GapMap } from './gap-map.ts';
import { InvisibleBytes } from './invisible.ts';
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

  /** Forks `raw` where it stands. */
  constructor(raw: StreamMatcher, window: Window) {
    this.#map = new GapMap();
    this.#matcher = raw.fork(this.#map);
    this.#window.base = Math.max(window.base, raw.keepFrom);
    this.#window.append(window.slice(this.#window.base, raw.end), this.#window.base);
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
    const invisible = new InvisibleBytes(chunk);
    const start = this.#window.end;
    let length = 0;
    for (let at = 0; at < chunk.length; ) {
      const to = this.#state === 'text' ? invisible.from(at) : at;
      if (to > at) {
        kept.set(chunk.subarray(at, to), length);
        length += to - at;
        this.#gap = 0;
        at = to;
      } else length += this.#take(chunk[at++] as number, kept, length, start);
    }
    return kept.subarray(0, length);
  }

  /** Takes a byte that is, or may belong to, something invisible; returns how many bytes it wrote to `kept`. */
  #take(byte: number, kept: Uint8Array, length: number, start: number): number {
    if (this.#state === 'escape') {
      this.#state = byte === BRACKET ? 'sequence' : 'text';
      if (byte === BRACKET) return this.#remove(2, kept, length, start);
      this.#gap = 0;
      kept[length] = ESCAPE;
      return 1 + this.#take(byte, kept, length + 1, start);
    }
    if (this.#state === 'sequence') {
      if (byte >= 0x20 && byte <= 0x3f) return this.#remove(1, kept, length, start);
      this.#state = 'text';
      if (byte >= 0x40 && byte <= 0x7e) return this.#remove(1, kept, length, start);
    }
    if (byte === NUL) return this.#remove(1, kept, length, start);
    // An ESC is neither kept nor removed before the byte after it is known.
    if (byte === ESCAPE) {
      this.#state = 'escape';
      return 0;
    }
    this.#gap = 0;
    kept[length] = byte;
    return 1;
  }

  /** Notes the gap; when it gets too long, its last byte is replaced by a line end instead of being removed. */
  #remove(count: number, kept: Uint8Array, length: number, start: number): number {
    this.#gap += count;
    const isTooLong = this.#gap >= LONGEST_GAP;
    this.#map.add(start + length, isTooLong ? count - 1 : count);
    if (!isTooLong) return 0;
    this.#gap = 0;
    kept[length] = LINE_FEED;
    return 1;
  }
}

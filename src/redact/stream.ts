import { Emitter } from './emitter.ts';
import { SAME_POSITIONS } from './found.ts';
import { InvisibleBytes } from './invisible.ts';
import { StreamMatcher } from './matcher.ts';
import type { Patterns } from './patterns.ts';
import { Shadow } from './shadow.ts';
import type { RedactedChunk, RedactionTotals, StreamRedactor } from './types.ts';
import { redactionFailed } from './view.ts';
import { Window } from './window.ts';

/** A larger push is taken in slices, so that the matches of one slice, not of the push, are in memory. */
const SLICE_BYTES = 256 * 1024;

/** So long after the last invisible byte the shadow is likely to be redundant. */
const CALM_BYTES = 256;

/** The patterns in force; replaced when literals are added. */
export interface PatternSource {
  readonly current: Patterns;
}

/** One output stream. After a failure nothing more comes out of it: every further call throws. */
export class RedactingStream implements StreamRedactor {
  readonly #source: PatternSource;
  readonly #window = new Window();
  readonly #emitter: Emitter;
  readonly #raw: StreamMatcher;
  #patterns: Patterns;
  #shadow: Shadow | undefined;
  #shadowSteps = 0;
  #unterminated: readonly string[] = [];
  #state: 'open' | 'ended' | 'failed' = 'open';

  constructor(source: PatternSource) {
    this.#source = source;
    this.#patterns = source.current;
    this.#emitter = new Emitter(this.#patterns.texts);
    this.#raw = new StreamMatcher(this.#patterns, this.#emitter.found, SAME_POSITIONS);
  }

  /** Bytes looked at, for the proof that work is linear in what was pushed. */
  get steps(): number {
    return this.#raw.steps + this.#shadowSteps + (this.#shadow?.steps ?? 0);
  }

  push(bytes: Uint8Array): RedactedChunk {
    return this.#guard(() => {
      this.#followPatterns();
      const chunks: RedactedChunk[] = [];
      for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
        chunks.push(this.#pushSlice(bytes.subarray(from, from + SLICE_BYTES)));
      }
      return joined(chunks);
    });
  }

  end(): RedactedChunk {
    return this.finish(true);
  }

  /** With `cut`, what may be the beginning of a secret is redacted; a text known to be whole has none. */
  finish(cut: boolean): RedactedChunk {
    return this.#guard(() => {
      this.#followPatterns();
      this.#unterminated = this.#openBlocks();
      this.#raw.finish(this.#window, cut);
      this.#shadow?.finish(cut);
      const chunk = this.#emitter.flush(this.#window, Number.POSITIVE_INFINITY);
      this.#state = 'ended';
      return chunk;
    });
  }

  totals(): RedactionTotals {
    const { observed, redacted, removed, inserted } = this.#emitter;
    const counts = [...this.#emitter.hits].map(([rule, count]) => ({ type: this.#patterns.ids[rule] ?? '', count }));
    return {
      observedBytes: observed,
      redactedBytes: redacted,
      removedBytes: removed,
      insertedBytes: inserted,
      hits: counts.sort((a, b) => (a.type < b.type ? -1 : 1)),
      unterminated: this.#unterminated,
    };
  }

  #guard(work: () => RedactedChunk): RedactedChunk {
    if (this.#state !== 'open') throw redactionFailed('engine', `was used after the stream had ${this.#state}`);
    this.#state = 'failed';
    const chunk = work();
    if (this.#state === 'failed') this.#state = 'open';
    return chunk;
  }

  #followPatterns(): void {
    if (this.#patterns === this.#source.current) return;
    this.#patterns = this.#source.current;
    this.#raw.replacePatterns(this.#patterns, this.#window);
    this.#shadow?.replacePatterns(this.#patterns);
  }

  #pushSlice(slice: Uint8Array): RedactedChunk {
    this.#emitter.observed += slice.length;
    this.#window.append(slice, Math.min(this.#raw.keepFrom, this.#emitter.cursor));
    this.#match(slice);
    const hold = Math.min(this.#raw.hold, this.#shadow?.hold(this.#window.end) ?? Number.POSITIVE_INFINITY);
    return this.#emitter.flush(this.#window, hold);
  }

  /** Feeds both matchers; the shadow's only from an invisible byte on and until it is redundant again. */
  #match(slice: Uint8Array): void {
    const invisible = new InvisibleBytes(slice);
    const start = this.#window.end - slice.length;
    let stretch = CALM_BYTES;
    for (let at = 0; at < slice.length; ) {
      let to = invisible.from(at);
      if (this.#shadow === undefined) {
        if (to > at) this.#raw.feed(this.#window.upTo(start + to));
        at = to;
        if (at === slice.length) return;
        this.#shadow = new Shadow(this.#raw, this.#window);
        stretch = CALM_BYTES;
      }
      to = calmEnd(invisible, at, Math.min(stretch, slice.length), slice.length);
      this.#raw.feed(this.#window.upTo(start + to));
      this.#shadow.feed(slice.subarray(at, to));
      this.#dropShadow();
      stretch *= 2;
      at = to;
    }
  }

  #dropShadow(): void {
    if (this.#shadow === undefined || !this.#shadow.isRedundantTo(this.#raw)) return;
    this.#shadowSteps += this.#shadow.steps;
    this.#shadow = undefined;
  }

  #openBlocks(): readonly string[] {
    const open = new Set([...this.#raw.openRules('block'), ...(this.#shadow?.openRules('block') ?? [])]);
    return [...open].map((rule) => this.#patterns.ids[rule] ?? '').sort();
  }
}

/** The end of the first `stretch` bytes from `from` on that have nothing invisible among them. */
function calmEnd(invisible: InvisibleBytes, from: number, stretch: number, length: number): number {
  let at = from;
  for (;;) {
    const next = invisible.from(at);
    if (next - at >= stretch || next === length) return Math.min(at + stretch, length);
    at = next + 1;
  }
}

function joined(chunks: readonly RedactedChunk[]): RedactedChunk {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  let length = 0;
  const replacements: [number, number][] = [];
  for (const chunk of chunks) {
    for (const [start, end] of chunk.replacements) replacements.push([start + length, end + length]);
    length += chunk.bytes.length;
  }
  return {
    bytes: Buffer.concat(
      chunks.map((chunk) => chunk.bytes),
      length,
    ),
    replacements,
  };
}

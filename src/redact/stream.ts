import { Emitter } from './emitter.ts';
import { SAME_POSITIONS } from './found.ts';
import { StreamMatcher } from './matcher.ts';
import type { Patterns } from './patterns.ts';
import { Shadow } from './shadow.ts';
import type { RedactedChunk, RedactionTotals, StreamRedactor } from './types.ts';
import { redactionFailed } from './view.ts';
import { Window } from './window.ts';

/** A larger push is taken in slices, so that the matches of one slice, not of the push, are in memory. */
const SLICE_BYTES = 256 * 1024;

/** The patterns in force; replaced when literals are added. */
export interface PatternSource {
  current: Patterns;
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
    const fork = this.#shadow === undefined ? firstInvisible(slice) : 0;
    if (fork < 0) this.#feed(slice);
    else {
      if (this.#shadow === undefined) {
        this.#feed(slice.subarray(0, fork));
        this.#shadow = new Shadow(this.#raw, this.#window);
      }
      const rest = slice.subarray(fork);
      this.#feed(rest);
      this.#shadow.feed(rest);
    }
    const hold = Math.min(this.#raw.hold, this.#shadow?.hold(this.#window.end) ?? Number.POSITIVE_INFINITY);
    const chunk = this.#emitter.flush(this.#window, hold);
    this.#dropShadow();
    return chunk;
  }

  #feed(bytes: Uint8Array): void {
    this.#emitter.observed += bytes.length;
    this.#window.append(bytes, Math.min(this.#raw.keepFrom, this.#emitter.cursor));
    this.#raw.feed(this.#window);
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

/** The first byte that the shadow would treat differently, or -1. */
function firstInvisible(bytes: Uint8Array): number {
  const sequence = bytes.indexOf(0x1b);
  const nul = bytes.indexOf(0x00);
  if (sequence < 0 || nul < 0) return Math.max(sequence, nul);
  return Math.min(sequence, nul);
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

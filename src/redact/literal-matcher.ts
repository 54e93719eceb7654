import type { Automaton } from './automaton.ts';
import { type Found, foundAt, type PositionMap } from './found.ts';

/** From this many bytes on, the beginning of a literal at the stream's end is redacted. */
export const OPEN_LITERAL_MINIMUM = 6;

/** Runs the automaton over one stream, asleep between the candidates of the prefilter. */
export class LiteralMatcher {
  /** Absolute position of the next byte to consume. */
  at = 0;
  steps = 0;
  #state = 0;
  #last: Found | undefined;
  #automaton: Automaton;
  readonly #rule: number;

  constructor(automaton: Automaton, rule: number) {
    this.#automaton = automaton;
    this.#rule = rule;
  }

  copy(): LiteralMatcher {
    const copy = new LiteralMatcher(this.#automaton, this.#rule);
    copy.at = this.at;
    copy.#state = this.#state;
    return copy;
  }

  /** Length of the longest suffix that may still become a literal. */
  get depth(): number {
    return this.#automaton.depth(this.#state);
  }

  get isAsleep(): boolean {
    return this.#state === 0;
  }

  /** Consumes from `from` until nothing is open any more, or to the end of `bytes` if `toEnd`. */
  run(bytes: Uint8Array, base: number, from: number, toEnd: boolean, sink: Found[], map: PositionMap): void {
    const automaton = this.#automaton;
    let state = this.#state;
    let i = from - base;
    for (; i < bytes.length; ) {
      state = automaton.step(state, bytes[i] as number);
      i++;
      const length = automaton.longest(state);
      if (length > 0) this.#add(base + i - length, base + i, sink, map);
      if (state === 0 && !toEnd) break;
    }
    this.steps += i - (from - base);
    this.#state = state;
    this.at = base + i;
  }

  /** The open beginning of a literal, when the stream ends here. */
  finish(sink: Found[], map: PositionMap): void {
    if (this.depth >= OPEN_LITERAL_MINIMUM) this.#add(this.at - this.depth, this.at, sink, map);
  }

  /** Goes on with another automaton: the bytes held back for the old one are seen by the new one too. */
  replace(automaton: Automaton, bytes: Uint8Array, base: number, sink: Found[], map: PositionMap): void {
    const held = this.at - this.depth;
    this.#automaton = automaton;
    this.#state = 0;
    this.run(bytes, base, held, true, sink, map);
  }

  #add(from: number, to: number, sink: Found[], map: PositionMap): void {
    const start = map.toRaw(from);
    const end = map.toRaw(to - 1) + 1;
    const last = this.#last;
    if (last !== undefined && !last.isTaken && start >= last.start && start <= last.end) {
      if (start === last.start) last.ownEnd = Math.max(last.ownEnd, end);
      last.end = Math.max(last.end, end);
      return;
    }
    this.#last = foundAt(start, end, this.#rule);
    sink.push(this.#last);
  }
}

import { ByteTrie } from './trie.ts';

const UNLINKED = -1;

/**
 * Aho and Corasick's automaton over every form of every literal. The state's depth is the longest suffix of the
 * stream that may still become a literal: exactly the bytes to hold back. A state is linked when it is first entered,
 * since of thousands hardly any ever is.
 */
export class Automaton {
  readonly #trie: ByteTrie;
  /** The state to fall back to: the longest proper suffix that is also a prefix of a literal. */
  readonly #fallback: Int32Array;
  /** Length of the longest literal that ends in a state, or 0. */
  readonly #longest: Int32Array;

  constructor(patterns: readonly Uint8Array[]) {
    let capacity = 0;
    for (const pattern of patterns) capacity += pattern.length;
    this.#trie = new ByteTrie(capacity, patterns.length);
    this.#fallback = new Int32Array(capacity + 1).fill(UNLINKED, 1);
    this.#longest = new Int32Array(capacity + 1);
    for (const pattern of patterns) this.#longest[this.#trie.insert(pattern)] = pattern.length;
  }

  depth(state: number): number {
    return this.#trie.depths[state] as number;
  }

  /** Only for states that `step` returned. */
  longest(state: number): number {
    return this.#longest[state] as number;
  }

  /** The state after `byte`. Falling back is amortised: it undoes steps taken before. */
  step(state: number, byte: number): number {
    for (let at = state; ; at = this.#fallback[at] as number) {
      const child = this.#trie.child(at, byte);
      if (child !== 0) return this.#linked(child);
      if (at === 0) return 0;
    }
  }

  /** Links `state` and, from the root down, all that lie above it. */
  #linked(state: number): number {
    if (this.#fallback[state] !== UNLINKED) return state;
    const path: number[] = [];
    for (let at = state; this.#fallback[at] === UNLINKED; at = this.#trie.parents[at] as number) path.push(at);
    for (const node of path.reverse()) {
      const parent = this.#trie.parents[node] as number;
      const target = parent === 0 ? 0 : this.step(this.#fallback[parent] as number, this.#trie.labels[node] as number);
      this.#fallback[node] = target;
      if (this.#longest[node] === 0) this.#longest[node] = this.#longest[target] as number;
    }
    return state;
  }
}

import { ByteTrie } from './trie.ts';

/**
 * Aho and Corasick's automaton over every form of every literal. The state's depth is the longest suffix of the
 * stream that may still become a literal: exactly the bytes to hold back.
 */
export class Automaton {
  readonly trie: ByteTrie;
  /** The state to fall back to: the longest proper suffix that is also a prefix of a literal. */
  readonly fallback: Int32Array;
  /** Length of the longest literal that ends in this state, or 0. */
  readonly longest: Int32Array;

  constructor(patterns: readonly Uint8Array[]) {
    let capacity = 0;
    for (const pattern of patterns) capacity += pattern.length;
    this.trie = new ByteTrie(capacity);
    this.fallback = new Int32Array(capacity + 1);
    this.longest = new Int32Array(capacity + 1);
    for (const pattern of patterns) this.longest[this.trie.insert(pattern)] = pattern.length;
    this.#link();
  }

  /** The state after `byte`; `fallback` hops are amortised over the bytes consumed. */
  step(state: number, byte: number): number {
    let at = state;
    for (;;) {
      const child = this.trie.child(at, byte);
      if (child !== 0 || at === 0) return child;
      at = this.fallback[at] as number;
    }
  }

  #link(): void {
    const { parents, labels, depths } = this.trie;
    for (const node of this.#byDepth()) {
      if ((depths[node] as number) > 1) {
        const parent = parents[node] as number;
        this.fallback[node] = this.step(this.fallback[parent] as number, labels[node] as number);
      }
      if (this.longest[node] === 0) this.longest[node] = this.longest[this.fallback[node] as number] as number;
    }
  }

  /** A node's fallback is shallower than the node, so links are made from the root down. */
  #byDepth(): Int32Array {
    const { size, depths } = this.trie;
    let deepest = 0;
    for (let node = 1; node < size; node++) deepest = Math.max(deepest, depths[node] as number);
    const starts = new Int32Array(deepest + 2);
    for (let node = 1; node < size; node++)
      starts[(depths[node] as number) + 1] = (starts[(depths[node] as number) + 1] ?? 0) + 1;
    for (let depth = 1; depth < starts.length; depth++)
      starts[depth] = (starts[depth] as number) + (starts[depth - 1] as number);
    const order = new Int32Array(size - 1);
    for (let node = 1; node < size; node++) {
      const depth = depths[node] as number;
      const slot = starts[depth] as number;
      order[slot] = node;
      starts[depth] = slot + 1;
    }
    return order;
  }
}

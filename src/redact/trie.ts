const HASH_FACTOR = -1640531535;

/**
 * A byte trie in flat arrays. A pattern's new nodes are numbered in a row, so that the only child of most nodes is the
 * next one; a small hash table knows the others. That keeps both start-up and memory small with hundreds of forms.
 */
export class ByteTrie {
  /** Number of nodes, the root (0) included. */
  size = 1;
  readonly parents: Int32Array;
  readonly labels: Uint8Array;
  readonly depths: Int32Array;
  readonly #root = new Int32Array(256);
  readonly #inner: Uint8Array;
  readonly #keys: Int32Array;
  readonly #children: Int32Array;
  readonly #shift: number;

  /** `capacity`: the summed length of the at most `patterns` byte strings that will be inserted. */
  constructor(capacity: number, patterns: number) {
    const bits = Math.max(4, Math.ceil(Math.log2(patterns * 2 + 2)));
    this.#shift = 32 - bits;
    this.#keys = new Int32Array(1 << bits);
    this.#children = new Int32Array(1 << bits);
    this.parents = new Int32Array(capacity + 2);
    this.labels = new Uint8Array(capacity + 2);
    this.depths = new Int32Array(capacity + 2);
    this.#inner = new Uint8Array(capacity + 2);
  }

  /** The node that stands for `bytes`. */
  insert(bytes: Uint8Array): number {
    let node = 0;
    let i = 0;
    for (; i < bytes.length; i++) {
      const child = this.child(node, bytes[i] as number);
      if (child === 0) break;
      node = child;
    }
    return i === bytes.length ? node : this.#append(node, bytes, i);
  }

  /** The child of `node` by `byte`, or 0. */
  child(node: number, byte: number): number {
    if (node === 0) return this.#root[byte] as number;
    const next = node + 1;
    if (this.labels[next] === byte && this.parents[next] === node) return next;
    const key = (node << 8) | byte;
    const mask = this.#keys.length - 1;
    for (let slot = Math.imul(key, HASH_FACTOR) >>> this.#shift; ; slot = (slot + 1) & mask) {
      const found = this.#keys[slot] as number;
      if (found === key) return this.#children[slot] as number;
      if (found === 0) return 0;
    }
  }

  hasChildren(node: number): boolean {
    return node === 0 ? this.size > 1 : this.#inner[node] === 1;
  }

  /** Adds nodes for `bytes` from `from` on below `node`, which has no such child yet. */
  #append(node: number, bytes: Uint8Array, from: number): number {
    const { parents, labels, depths } = this;
    const first = this.size;
    const depth = depths[node] as number;
    this.#link(node, bytes[from] as number, first);
    for (let i = from; i < bytes.length; i++) {
      const added = first + i - from;
      labels[added] = bytes[i] as number;
      parents[added] = added - 1;
      depths[added] = depth + 1 + i - from;
    }
    parents[first] = node;
    this.size += bytes.length - from;
    this.#inner.fill(1, first, this.size - 1);
    return this.size - 1;
  }

  #link(node: number, byte: number, child: number): void {
    this.#inner[node] = 1;
    if (node === 0) this.#root[byte] = child;
    if (node === 0 || child === node + 1) return;
    const key = (node << 8) | byte;
    const mask = this.#keys.length - 1;
    let slot = Math.imul(key, HASH_FACTOR) >>> this.#shift;
    while (this.#keys[slot] !== 0) slot = (slot + 1) & mask;
    this.#keys[slot] = key;
    this.#children[slot] = child;
  }
}

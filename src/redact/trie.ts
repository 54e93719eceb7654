/**
 * A byte trie over one flat hash table: a transition is one multiplication and, nearly always, one look. Building it
 * costs one insertion per distinct prefix, which is what keeps start-up short with hundreds of literal forms.
 */
export class ByteTrie {
  /** Number of nodes, the root (0) included. */
  size = 1;
  readonly parents: Int32Array;
  readonly labels: Uint8Array;
  readonly depths: Int32Array;
  readonly #root = new Int32Array(256);
  readonly #keys: Int32Array;
  readonly #children: Int32Array;
  readonly #shift: number;
  readonly #inner: Uint8Array;

  /** `capacity`: the summed length of everything that will be inserted. */
  constructor(capacity: number) {
    const bits = Math.max(4, Math.ceil(Math.log2(capacity * 2 + 2)));
    this.#shift = 32 - bits;
    this.#keys = new Int32Array(1 << bits);
    this.#children = new Int32Array(1 << bits);
    this.parents = new Int32Array(capacity + 1);
    this.labels = new Uint8Array(capacity + 1);
    this.depths = new Int32Array(capacity + 1);
    this.#inner = new Uint8Array(capacity + 1);
  }

  /** The node that stands for `bytes`. */
  insert(bytes: Uint8Array): number {
    let node = 0;
    for (const byte of bytes) node = this.child(node, byte) || this.#add(node, byte);
    return node;
  }

  /** The child of `node` by `byte`, or 0. */
  child(node: number, byte: number): number {
    if (node === 0) return this.#root[byte] as number;
    const key = (node << 8) | byte;
    const mask = this.#keys.length - 1;
    for (let slot = Math.imul(key, -1640531535) >>> this.#shift; ; slot = (slot + 1) & mask) {
      const found = this.#keys[slot] as number;
      if (found === key) return this.#children[slot] as number;
      if (found === 0) return 0;
    }
  }

  hasChildren(node: number): boolean {
    return node === 0 ? this.size > 1 : this.#inner[node] === 1;
  }

  #add(node: number, byte: number): number {
    const child = this.size++;
    this.parents[child] = node;
    this.labels[child] = byte;
    this.depths[child] = (this.depths[node] as number) + 1;
    this.#inner[node] = 1;
    if (node === 0) {
      this.#root[byte] = child;
      return child;
    }
    const key = (node << 8) | byte;
    const mask = this.#keys.length - 1;
    let slot = Math.imul(key, -1640531535) >>> this.#shift;
    while (this.#keys[slot] !== 0) slot = (slot + 1) & mask;
    this.#keys[slot] = key;
    this.#children[slot] = child;
    return child;
  }
}

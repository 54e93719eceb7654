/** How much of one redacted stream is kept, in bytes. */
export interface Quota {
  readonly head: number;
  readonly tail: number;
}

export interface Retained {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** Bytes between head and tail that were not kept. */
  readonly dropped: number;
}

type Range = readonly [start: number, end: number];

/**
 * Keeps the first and the last bytes of a redacted stream in bounded memory. The cut is made after redaction, lies on a
 * UTF-8 boundary and never inside a replacement text, so that what is kept reads as it was shown.
 */
export class Retention {
  readonly #quota: Quota;
  #total = 0;
  #head: Buffer = Buffer.alloc(0);
  #headLength = 0;
  readonly #tail: Ring;
  /** The replacement that lies across the end of the head, if any. */
  #acrossHead: Range | undefined;
  /** Replacements that may lie across the start of the tail, in stream offsets. */
  readonly #recent = new RecentRanges();

  constructor(quota: Quota) {
    this.#quota = quota;
    this.#tail = new Ring(quota.tail);
  }

  push(bytes: Uint8Array, replacements: readonly Range[]): void {
    const offset = this.#total;
    this.#total += bytes.length;
    for (const [start, end] of replacements) this.#remember([offset + start, offset + end]);
    const room = Math.min(this.#quota.head - this.#headLength, bytes.length);
    if (room > 0) this.#appendHead(bytes.subarray(0, room));
    if (room < bytes.length) this.#tail.push(bytes.subarray(Math.max(room, 0)));
  }

  finish(): Retained {
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#tail.read();
    if (head.length + tail.length === this.#total) return { head, tail, dropped: 0 };
    const keptHead = head.subarray(0, this.#headEnd(head));
    const keptTail = tail.subarray(this.#tailStart(tail));
    return { head: keptHead, tail: keptTail, dropped: this.#total - keptHead.length - keptTail.length };
  }

  #remember(range: Range): void {
    if (range[0] < this.#quota.head && range[1] > this.#quota.head) this.#acrossHead = range;
    this.#recent.add(range, this.#total - this.#quota.tail);
  }

  #appendHead(bytes: Uint8Array): void {
    const needed = this.#headLength + bytes.length;
    if (needed > this.#head.length) this.#head = grow(this.#head, this.#headLength, needed, this.#quota.head);
    this.#head.set(bytes, this.#headLength);
    this.#headLength = needed;
  }

  #headEnd(head: Buffer): number {
    const end = this.#acrossHead ? this.#acrossHead[0] : head.length;
    return lastBoundary(head, end);
  }

  #tailStart(tail: Buffer): number {
    const offset = this.#total - tail.length;
    const across = this.#recent.across(offset);
    return across ? across[1] - offset : firstBoundary(tail);
  }
}

/** The last `capacity` bytes pushed; memory grows with use up to the capacity. */
class Ring {
  readonly #capacity: number;
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  #length = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(input: Uint8Array): void {
    const bytes = input.length > this.#capacity ? input.subarray(input.length - this.#capacity) : input;
    if (bytes.length === 0) return;
    const needed = Math.min(this.#length + bytes.length, this.#capacity);
    if (needed > this.#bytes.length) {
      this.#bytes = grow(this.read(), this.#length, needed, this.#capacity);
      this.#start = 0;
    }
    const end = (this.#start + this.#length) % this.#bytes.length;
    const first = Math.min(bytes.length, this.#bytes.length - end);
    this.#bytes.set(bytes.subarray(0, first), end);
    this.#bytes.set(bytes.subarray(first), 0);
    const overwritten = Math.max(this.#length + bytes.length - this.#bytes.length, 0);
    this.#start = (this.#start + overwritten) % this.#bytes.length;
    this.#length += bytes.length - overwritten;
  }

  /** In the order pushed. */
  read(): Buffer {
    const end = this.#start + this.#length;
    if (end <= this.#bytes.length) return this.#bytes.subarray(this.#start, end);
    return Buffer.concat([this.#bytes.subarray(this.#start), this.#bytes.subarray(0, end - this.#bytes.length)]);
  }
}

/** Ranges that the moving start of the tail may still fall into; those it has passed are let go of. */
class RecentRanges {
  #ranges: Range[] = [];
  #first = 0;

  add(range: Range, tailStart: number): void {
    this.#ranges.push(range);
    while ((this.#ranges[this.#first]?.[1] ?? Number.POSITIVE_INFINITY) <= tailStart) this.#first++;
    if (this.#first <= 1024 || this.#first * 2 < this.#ranges.length) return;
    this.#ranges = this.#ranges.slice(this.#first);
    this.#first = 0;
  }

  across(offset: number): Range | undefined {
    for (let index = this.#first; index < this.#ranges.length; index++) {
      const range = this.#ranges[index];
      if (range !== undefined && range[1] > offset) return range[0] < offset ? range : undefined;
    }
    return undefined;
  }
}

function grow(buffer: Buffer, used: number, needed: number, limit: number): Buffer {
  const larger = Buffer.alloc(Math.min(Math.max(needed, buffer.length * 2, 4096), limit));
  buffer.copy(larger, 0, 0, used);
  return larger;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The largest cut at or below `end` that does not split a UTF-8 sequence; other bytes are cut where they are. */
function lastBoundary(bytes: Buffer, end: number): number {
  let lead = end - 1;
  while (lead >= 0 && end - lead < 4 && isContinuation(bytes[lead])) lead--;
  const byte = bytes[lead];
  if (byte === undefined) return end;
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
  return length > end - lead ? lead : end;
}

function firstBoundary(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return isContinuation(bytes[start]) ? 0 : start;
}

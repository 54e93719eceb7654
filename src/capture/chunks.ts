import { createHash } from 'node:crypto';
import { chunkGenesis } from '../contract/index.ts';

export type StreamName = 'stdout' | 'stderr';

/** Where the lines of `chunks.jsonl` go. A failure to store one is the owner's to handle, not the stream's. */
export interface ChunkLog {
  append(line: string): void;
}

/** Numbers the chunks of both streams in the order in which they were read. */
export class ChunkIndex {
  #next = 0;
  take(): number {
    return this.#next++;
  }
}

/** The hash chain over the chunk headers of one stream (docs/format.md §7.2). */
export class ChunkChain {
  readonly #stream: StreamName;
  readonly #index: ChunkIndex;
  readonly #log: ChunkLog;
  #count = 0;
  #link: Buffer;

  constructor(receiptId: string, stream: StreamName, index: ChunkIndex, log: ChunkLog) {
    this.#stream = stream;
    this.#index = index;
    this.#log = log;
    this.#link = chunkGenesis(receiptId, stream);
  }

  /** `prefixDigest` is SHA-256 (hex) of the redacted stream up to the end of this chunk. */
  add(observed: number, redacted: number, prefixDigest: string): void {
    // Canonical by construction: members in code-point order, no character that needs an escape.
    const line = `{"index":${this.#index.take()},"observed":${observed},"redacted":${redacted},"redactedDigest":"sha256:${prefixDigest}","sequence":${this.#count},"stream":"${this.#stream}"}`;
    this.#count++;
    this.#link = createHash('sha256').update(this.#link).update(line).digest();
    this.#log.append(line);
  }

  summary(): { count: number; chain: string } {
    return { count: this.#count, chain: this.#link.toString('hex') };
  }
}

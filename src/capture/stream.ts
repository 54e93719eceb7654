import { createHash, createHmac, type KeyObject } from 'node:crypto';
import type { StreamEvidence } from '../contract/index.ts';
import type { RedactedChunk, StreamRedactor } from '../redact/index.ts';
import { ChunkChain, type ChunkIndex, type ChunkLog, type StreamName } from './chunks.ts';
import { type Quota, type Retained, Retention } from './retention.ts';

/** A chunk is closed when this many bytes were observed: one-byte writes do not make one record each. */
const CHUNK_BYTES = 64 * 1024;

export interface StreamCaptureOptions {
  readonly receiptId: string;
  readonly stream: StreamName;
  readonly hmacKey: KeyObject;
  readonly hmacKeyId: string;
  readonly redactor: StreamRedactor;
  readonly quota: Quota;
  /** Why a quota of nothing is one. */
  readonly quotaReason: 'quota' | 'policy';
  readonly index: ChunkIndex;
  readonly log: ChunkLog;
  /** Shows redacted bytes; false asks the reader to pause. */
  readonly show: (bytes: Uint8Array) => boolean;
  /** The redactor failed: nothing more of this stream is stored or shown. */
  readonly onBlocked: (error: unknown, offset: number) => void;
}

export type Closing = StreamEvidence['closed'];

export interface CapturedStream {
  readonly evidence: StreamEvidence;
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly unterminated: readonly string[];
}

/**
 * One output stream. The order never changes: HMAC of the raw bytes, redaction, digest and chain of the redacted bytes,
 * quota, show. Whatever stands behind the redactor sees redacted bytes only.
 */
export class StreamCapture {
  readonly #options: StreamCaptureOptions;
  readonly #hmac;
  readonly #digest = createHash('sha256');
  readonly #chain: ChunkChain;
  readonly #retention: Retention;
  #observed = 0;
  #redacted = 0;
  #inserted = 0;
  #pendingObserved = 0;
  #pendingRedacted = 0;
  #blockedAt: number | undefined;
  #withheldCommands = 0;
  readonly #masksAddedAt: number[] = [];

  constructor(options: StreamCaptureOptions) {
    this.#options = options;
    this.#hmac = createHmac('sha256', options.hmacKey);
    this.#chain = new ChunkChain(options.receiptId, options.stream, options.index, options.log);
    this.#retention = new Retention(options.quota);
  }

  /** Takes raw bytes; false asks the reader to pause. */
  push(bytes: Uint8Array): boolean {
    const before = this.#observed;
    this.#observed += bytes.length;
    this.#hmac.update(bytes);
    if (this.#blockedAt !== undefined) return true;
    try {
      const chunk = this.#options.redactor.push(bytes);
      this.#pendingObserved += bytes.length;
      return this.#accept(chunk);
    } catch (error) {
      this.#block(error, before);
      return true;
    }
  }

  /** Takes bytes of commands that ask for a mask: they count as observed and removed, and go no further. */
  withhold(bytes: Uint8Array, commands: number): void {
    this.#observed += bytes.length;
    this.#hmac.update(bytes);
    if (this.#blockedAt !== undefined) return;
    this.#withheldCommands += commands;
    this.#pendingObserved += bytes.length;
    if (this.#pendingObserved >= CHUNK_BYTES) this.#closeChunk();
  }

  /** Called when a mask is registered while the stream runs: what went before could not be masked. */
  noteMask(): void {
    this.#masksAddedAt.push(this.#observed);
  }

  finish(closed: Closing, holders: ReadonlyArray<{ pid: number; comm: string }> = []): CapturedStream {
    if (this.#blockedAt === undefined) {
      try {
        this.#accept(this.#options.redactor.end());
      } catch (error) {
        this.#block(error, this.#observed);
      }
    }
    if (this.#pendingObserved > 0 || this.#pendingRedacted > 0) this.#closeChunk();
    const retained = this.#retention.finish();
    return {
      evidence: this.#evidence(retained, closed, holders),
      head: retained.head,
      tail: retained.tail,
      unterminated: this.#blockedAt === undefined ? this.#options.redactor.totals().unterminated : [],
    };
  }

  /** What stands before the redactor failed: as if the redactor had. */
  fail(error: unknown): void {
    if (this.#blockedAt === undefined) this.#block(error, this.#observed);
  }

  #accept(chunk: RedactedChunk): boolean {
    let proceed = true;
    if (chunk.bytes.length > 0) {
      this.#digest.update(chunk.bytes);
      this.#redacted += chunk.bytes.length;
      this.#pendingRedacted += chunk.bytes.length;
      for (const [start, end] of chunk.replacements) this.#inserted += end - start;
      this.#retention.push(chunk.bytes, chunk.replacements);
      proceed = this.#options.show(chunk.bytes);
    }
    if (this.#pendingObserved >= CHUNK_BYTES) this.#closeChunk();
    return proceed;
  }

  #closeChunk(): void {
    this.#chain.add(this.#pendingObserved, this.#pendingRedacted, this.#digest.copy().digest('hex'));
    this.#pendingObserved = 0;
    this.#pendingRedacted = 0;
  }

  /** Fails closed: `offset` bytes are accounted for; what the redactor still held back of them counts as removed. */
  #block(error: unknown, offset: number): void {
    this.#blockedAt = offset;
    this.#options.onBlocked(error, offset);
  }

  #evidence(
    retained: Retained,
    closed: Closing,
    holders: ReadonlyArray<{ pid: number; comm: string }>,
  ): StreamEvidence {
    const accounted = this.#blockedAt ?? this.#observed;
    const { head, tail, dropped } = retained;
    return {
      observedBytes: this.#observed,
      redactedBytes: this.#redacted,
      retainedBytes: head.length + tail.length,
      droppedBytes: dropped,
      redaction: {
        removedBytes: accounted + this.#inserted - this.#redacted,
        insertedBytes: this.#inserted,
        hits: this.#hits(),
      },
      retained: this.#ranges(retained),
      truncation: { reason: dropped === 0 ? 'none' : this.#options.quotaReason },
      chunks: this.#chain.summary(),
      rawHmac: { keyId: this.#options.hmacKeyId, algorithm: 'hmac-sha256', value: this.#hmac.digest('hex') },
      redactedDigest: `sha256:${this.#digest.digest('hex')}`,
      closed,
      ...(holders.length > 0 && { holders: holders.map(({ pid, comm }) => ({ pid, comm })) }),
      ...(this.#blockedAt !== undefined && { blockedAt: this.#blockedAt }),
      ...(this.#masksAddedAt.length > 0 && { masksAddedAt: this.#masksAddedAt }),
    };
  }

  #hits(): StreamEvidence['redaction']['hits'] {
    const hits = this.#options.redactor.totals().hits.map((hit) => ({ type: hit.type, count: hit.count }));
    if (this.#withheldCommands > 0) hits.push({ type: 'add-mask', count: this.#withheldCommands });
    return hits.sort((left, right) => (left.type < right.type ? -1 : 1));
  }

  /** An uncut stream is all head: one range, one file. */
  #ranges({ head, tail, dropped }: Retained): StreamEvidence['retained'] {
    const sha256 = createHash('sha256').update(head).update(tail).digest('hex');
    if (dropped === 0)
      return { head: { offset: 0, length: this.#redacted }, tail: { offset: this.#redacted, length: 0 }, sha256 };
    return {
      head: { offset: 0, length: head.length },
      tail: { offset: this.#redacted - tail.length, length: tail.length },
      sha256,
    };
  }
}

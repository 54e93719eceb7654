import { createHash, createHmac, createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkIndex, StreamCapture } from '../../src/capture/index.ts';
import { chunkGenesis, sha256 } from '../../src/contract/index.ts';
import { createRedactor, type StreamRedactor } from '../../src/redact/index.ts';

const RECEIPT = '0190f3e4-0000-7000-8000-000000000001';
const KEY = Buffer.alloc(32, 7);

function capture(options: { redactor?: StreamRedactor; quota?: { head: number; tail: number } } = {}) {
  const lines: string[] = [];
  const shown: Buffer[] = [];
  const blocked: number[] = [];
  const stream = new StreamCapture({
    receiptId: RECEIPT,
    stream: 'stdout',
    hmacKey: createSecretKey(KEY),
    hmacKeyId: 'k'.repeat(22),
    redactor: options.redactor ?? createRedactor({ literals: [{ name: 'S', value: 'hunter2-hunter2' }] }).stream(),
    quota: options.quota ?? { head: 50, tail: 70 },
    quotaReason: 'quota',
    index: new ChunkIndex(),
    log: { append: (line) => lines.push(line) },
    show: (bytes) => {
      shown.push(Buffer.from(bytes));
      return true;
    },
    onBlocked: (_error, offset) => blocked.push(offset),
  });
  return { stream, lines, shown, blocked };
}

describe('stream capture', () => {
  it('accounts for every byte, whatever the pieces', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.constant('hunter2-hunter2'),
            fc.constant('hunter2-'),
            fc.string({ maxLength: 60 }),
            fc.constant('\n'),
          ),
          { maxLength: 12 },
        ),
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 30 }),
        (texts, pieces) => {
          const input = Buffer.from(texts.join(''), 'utf8');
          const { stream, lines, shown } = capture();
          let offset = 0;
          for (const size of [...pieces, input.length]) {
            stream.push(input.subarray(offset, offset + size));
            offset = Math.min(offset + size, input.length);
          }
          const { evidence, head, tail } = stream.finish('eof');
          const redacted = Buffer.concat(shown);
          expect(redacted.toString()).not.toContain('hunter2-hunter2');
          expect(evidence.observedBytes).toBe(input.length);
          expect(evidence.redactedBytes).toBe(redacted.length);
          expect(evidence.observedBytes - evidence.redaction.removedBytes + evidence.redaction.insertedBytes).toBe(
            redacted.length,
          );
          expect(evidence.retainedBytes + evidence.droppedBytes).toBe(redacted.length);
          expect(evidence.retained.sha256).toBe(createHash('sha256').update(head).update(tail).digest('hex'));
          expect(evidence.redactedDigest).toBe(`sha256:${sha256(redacted).toString('hex')}`);
          expect(evidence.rawHmac.value).toBe(createHmac('sha256', KEY).update(input).digest('hex'));
          expect(lines.length).toBe(evidence.chunks.count);
          const chain = lines.reduce(
            (link, line) => createHash('sha256').update(link).update(line).digest(),
            chunkGenesis(RECEIPT, 'stdout'),
          );
          expect(evidence.chunks.chain).toBe(chain.toString('hex'));
        },
      ),
    );
  });

  it('closes a chunk at 64 KiB, not at each write', () => {
    const { stream, lines } = capture();
    for (let index = 0; index < 100_000; index++) stream.push(Buffer.from('x'));
    expect(stream.finish('eof').evidence.chunks.count).toBe(2);
    expect(lines.map((line) => JSON.parse(line).observed)).toEqual([65536, 100_000 - 65536]);
  });

  it('fails closed: nothing behind a failing redactor is shown or kept, and the raw bytes still count', () => {
    const real = createRedactor({}).stream();
    let pushes = 0;
    const failing: StreamRedactor = {
      push: (bytes) => {
        if (++pushes === 3) throw new Error('rule failed');
        return real.push(bytes);
      },
      end: () => real.end(),
      totals: () => real.totals(),
    };
    const { stream, shown, blocked } = capture({ redactor: failing });
    for (const text of ['one\n', 'two\n', 'three\n', 'four\n']) stream.push(Buffer.from(text));
    const { evidence } = stream.finish('eof');
    expect(Buffer.concat(shown).toString()).not.toMatch(/three|four/);
    expect(blocked).toEqual([8]);
    expect(evidence.blockedAt).toBe(8);
    expect(evidence.observedBytes).toBe(19);
    expect(8 - evidence.redaction.removedBytes + evidence.redaction.insertedBytes).toBe(evidence.redactedBytes);
    expect(evidence.rawHmac.value).toBe(createHmac('sha256', KEY).update('one\ntwo\nthree\nfour\n').digest('hex'));
  });
});

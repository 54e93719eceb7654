import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Retention } from '../../src/capture/retention.ts';

function retain(
  input: Buffer,
  quota: { head: number; tail: number },
  pieces: number[],
  replacements: Array<[number, number]> = [],
) {
  const retention = new Retention(quota);
  let offset = 0;
  for (const size of [...pieces, input.length]) {
    const end = Math.min(offset + size, input.length);
    const inside = replacements
      .filter(([start]) => start >= offset && start < end)
      .map(([start, stop]): [number, number] => [start - offset, stop - offset]);
    retention.push(input.subarray(offset, end), inside);
    offset = end;
  }
  return retention.finish();
}

describe('retention', () => {
  it('keeps a stream whole up to head and tail together', () => {
    const input = Buffer.from('0123456789');
    const kept = retain(input, { head: 4, tail: 6 }, [3, 3]);
    expect(Buffer.concat([kept.head, kept.tail]).toString()).toBe('0123456789');
    expect(kept.dropped).toBe(0);
  });

  it('drops one byte when there is one too many', () => {
    const kept = retain(Buffer.from('0123456789a'), { head: 4, tail: 6 }, [1, 2, 5]);
    expect([kept.head.toString(), kept.tail.toString(), kept.dropped]).toEqual(['0123', '56789a', 1]);
  });

  it('never cuts inside a UTF-8 sequence', () => {
    const input = Buffer.from('aa€bb€cc', 'utf8');
    for (let head = 0; head <= 4; head++)
      for (let tail = 0; tail <= 4; tail++) {
        const kept = retain(input, { head, tail }, []);
        expect(kept.head.toString('utf8') + kept.tail.toString('utf8')).not.toContain('\ufffd');
        expect(kept.head.length + kept.dropped + kept.tail.length).toBe(input.length);
      }
  });

  it('cuts bytes that are no UTF-8 where the quota says', () => {
    const kept = retain(Buffer.alloc(20, 0x80), { head: 5, tail: 5 }, [7, 7]);
    expect([kept.head.length, kept.tail.length]).toEqual([5, 5]);
  });

  it('never cuts inside a replacement', () => {
    const input = Buffer.from('ab[REDACTED:x]cdefghijklmnop[REDACTED:y]qr');
    const replacements: Array<[number, number]> = [
      [2, 14],
      [28, 40],
    ];
    for (let head = 0; head < 20; head++)
      for (let tail = 0; tail < 20; tail++) {
        const kept = retain(input, { head, tail }, [1, 1, 12, 5], replacements);
        for (const part of [kept.head.toString(), kept.tail.toString()])
          expect(part.replaceAll(/\[REDACTED:[xy]\]/g, '')).not.toMatch(/[[\]:]|REDACTED/);
      }
  });

  it('keeps the right bytes while its memory grows and wraps', () => {
    const input = Buffer.from(Uint8Array.from({ length: 90_000 }, (_, index) => (index * 7 + (index >> 8)) & 0x7f));
    for (const size of [9_000, 20_000, 39_999, 40_000, 40_001, 41_500, 50_000, 89_999])
      for (const piece of [1, 700, 4_096, 16_384, 64_000]) {
        const part = input.subarray(0, size);
        const kept = retain(
          part,
          { head: 10_000, tail: 30_000 },
          Array.from({ length: size / piece }, () => piece),
        );
        expect(kept.head.equals(part.subarray(0, kept.head.length)), `${size}/${piece}`).toBe(true);
        expect(kept.tail.equals(part.subarray(size - kept.tail.length)), `${size}/${piece}`).toBe(true);
        expect(kept.dropped).toBe(Math.max(0, size - 40_000));
      }
  });

  it('lets go of replacements that the tail has passed', () => {
    const retention = new Retention({ head: 0, tail: 100 });
    const line = Buffer.from('x[REDACTED:a]y\n');
    for (let index = 0; index < 200_000; index++) retention.push(line, [[1, 13]]);
    const { tail, dropped } = retention.finish();
    expect(tail.toString().replaceAll('[REDACTED:a]', '')).toMatch(/^[xy\n]*$/);
    expect(tail.length + dropped).toBe(200_000 * line.length);
  });

  it('keeps the first and the last bytes for any split', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400 }),
        fc.nat({ max: 100 }),
        fc.nat({ max: 100 }),
        fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 40 }),
        (bytes, head, tail, pieces) => {
          const input = Buffer.from(bytes);
          const kept = retain(input, { head, tail }, pieces);
          expect(kept.head.length + kept.dropped + kept.tail.length).toBe(input.length);
          expect(kept.head.equals(input.subarray(0, kept.head.length))).toBe(true);
          expect(kept.tail.equals(input.subarray(input.length - kept.tail.length))).toBe(true);
          if (input.length <= head + tail) expect(kept.dropped).toBe(0);
          else expect(kept.dropped).toBeGreaterThanOrEqual(input.length - head - tail);
        },
      ),
    );
  });
});

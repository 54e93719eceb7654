// Prints the output of one kind whole, on both streams: blocks that repeat, then the line that matters.
import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const MIB = 1024 * 1024;
export const LAST_LINE = '\nerror: step 7 failed, see above\n';

const line = (index) =>
  `2026-01-01T00:00:${String(index % 60).padStart(2, '0')}Z build step ${index} ok, nothing to see\n`;

const BLOCKS = {
  lines: () => Buffer.from(Array.from({ length: 1000 }, (_, index) => line(index)).join('')),
  // Every byte value, NUL and what is no UTF-8 among them, in an order that repeats only after 65 536 bytes.
  bytes: () => Buffer.from(Array.from({ length: 65536 }, (_, index) => (index * 167 + (index >> 8) * 13) & 0xff)),
  'one line': () => Buffer.from('the quick brown fox jumps over the lazy dog '.repeat(1500)),
};
export const KINDS = Object.keys(BLOCKS);

/** How often the block comes on a stream, some `mebibytes` in all; the two streams differ. */
export function outputOf(kind, stream, mebibytes) {
  const block = BLOCKS[kind]();
  const size = stream === 'stdout' ? mebibytes : mebibytes * 0.75;
  return { block, times: Math.ceil((size * MIB) / block.length), last: Buffer.from(LAST_LINE) };
}

function writeWhole(fd, bytes) {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [kind, mebibytes] = [process.argv[2], Number(process.argv[3])];
  const plans = ['stdout', 'stderr'].map((stream, index) => ({ fd: index + 1, ...outputOf(kind, stream, mebibytes) }));
  for (let turn = 0; turn < Math.max(...plans.map(({ times }) => times)); turn++) {
    for (const { fd, block, times } of plans) if (turn < times) writeWhole(fd, block);
  }
  for (const { fd, last } of plans) writeWhole(fd, last);
}

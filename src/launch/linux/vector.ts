import { address } from './libc.ts';

/**
 * A `char *[]` and its strings in one block, so that the one argument keeps both alive. Cheaper than koffi's own
 * string arrays for a CI environment, and not bound by the size of koffi's call stack.
 */
export function stringVector(strings: readonly string[]): Buffer {
  const pointers = (strings.length + 1) * 8;
  let size = pointers;
  for (const string of strings) size += Buffer.byteLength(string) + 1;
  const block = Buffer.allocUnsafeSlow(size);
  const base = address(block);
  let at = pointers;
  strings.forEach((string, index) => {
    block.writeBigUInt64LE(base + BigInt(at), index * 8);
    at += block.write(string, at);
    block[at++] = 0;
  });
  block.writeBigUInt64LE(0n, strings.length * 8);
  return block;
}

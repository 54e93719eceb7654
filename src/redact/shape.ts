import { type ByteTable, isDigit, isUpper } from './charset.ts';
import type { View } from './view.ts';

/** Most bytes looked at to tell a token from words joined by hyphens. */
export const HEAD_BYTES = 32;
const LONG_SEGMENT = 16;
const SEGMENT_LIMIT = 512;
const CREDENTIALS_LIMIT = 64;
const PERIOD = 0x2e;

export type Shape = 'dense' | 'segments' | 'credentials';

/** Whether the run at `from` looks like the value it should be, not merely like its charset. */
export function hasShape(shape: Shape, view: View, from: number, table: ByteTable): boolean {
  if (shape === 'dense') return isDense(view, from, table);
  if (shape === 'segments') return hasSegments(view, from, table);
  return isCredentials(view, from, table);
}

/** A digit, a capital or an unbroken segment: `sk-proj4x…`, but not `sk-fading-circle-animation-delay`. */
function isDense(view: View, from: number, table: ByteTable): boolean {
  let segment = 0;
  for (let i = 0; i < HEAD_BYTES; i++) {
    const byte = view.at(from + i);
    if (byte < 0 || table[byte] !== 1) return false;
    if (isDigit(byte) || isUpper(byte)) return true;
    segment = byte >= 0x61 && byte <= 0x7a ? segment + 1 : 0;
    if (segment >= LONG_SEGMENT) return true;
  }
  return false;
}

/** A period within the run. A run too long to wait for one is taken for a token: never the other way round. */
function hasSegments(view: View, from: number, table: ByteTable): boolean {
  for (let i = 0; i < SEGMENT_LIMIT; i++) {
    const byte = view.at(from + i);
    if (byte === PERIOD) return true;
    if (byte < 0 || table[byte] !== 1) return false;
  }
  return true;
}

/** Base64 of `user:password`. */
function isCredentials(view: View, from: number, table: ByteTable): boolean {
  let length = 0;
  while (length < CREDENTIALS_LIMIT) {
    const byte = view.at(from + length);
    if (byte < 0 || table[byte] !== 1) break;
    length++;
  }
  const text = Buffer.from(view.bytes.subarray(from, from + length)).toString('latin1');
  const decoded = Buffer.from(text, 'base64');
  const colon = decoded.indexOf(0x3a);
  return colon >= 0 && decoded.subarray(0, colon).every((byte) => byte >= 0x20 && byte !== 0x7f);
}

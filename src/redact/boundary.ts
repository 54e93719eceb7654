import { byteTable, HEX, isLower, isUpper, WORD } from './charset.ts';
import { LONGEST_ID, REPLACEMENT_START } from './replacement.ts';

/** Bytes before a candidate that a rule may look back at; the window always keeps that many. */
export const LOOKBEHIND = 64;

const BACKSLASH = 0x5c;
const ESCAPE = 0x1b;
const CLOSING_BRACKET = 0x5d;
const ID = byteTable('a-z0-9-');
const SEQUENCE_LIMIT = 32;
const LETTER_ESCAPES = new Set(Buffer.from('nrtbfav0e'));

/**
 * Whether no word runs into `position`. The last letter of an escape (`\n`, `%3D`, `\x1b`, `\u003d`) or of a colour
 * sequence belongs to no word: a token printed right after one must not slip through. A replacement text does: what
 * was no match beside the secret is none beside its replacement.
 */
export function isWordBoundary(bytes: Uint8Array, position: number): boolean {
  const previous = position > 0 ? (bytes[position - 1] as number) : 0;
  if (WORD[previous] !== 1) return previous !== CLOSING_BRACKET || !endsReplacement(bytes, position);
  if (bytes[position - 2] === BACKSLASH && LETTER_ESCAPES.has(previous)) return true;
  return endsHexEscape(bytes, position) || endsSequence(bytes, position);
}

function endsHexEscape(bytes: Uint8Array, position: number): boolean {
  if (!isHex(bytes, position - 2, position)) return false;
  if (bytes[position - 3] === 0x25) return true;
  if (bytes[position - 3] === 0x78 && bytes[position - 4] === BACKSLASH) return true;
  return isHex(bytes, position - 4, position) && bytes[position - 5] === 0x75 && bytes[position - 6] === BACKSLASH;
}

function isHex(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (HEX[bytes[i] ?? 0] !== 1) return false;
  return true;
}

/** Whether the byte before `position` is the last of a CSI sequence: the `m` of a colour begins no word and no token. */
export function endsSequence(bytes: Uint8Array, position: number): boolean {
  const last = bytes[position - 1] ?? 0;
  if (!isLower(last) && !isUpper(last)) return false;
  for (let i = position - 2; i > position - SEQUENCE_LIMIT; i--) {
    const byte = bytes[i] ?? 0;
    if (byte === 0x5b) return bytes[i - 1] === ESCAPE;
    if (byte < 0x20 || byte > 0x3f) return false;
  }
  return false;
}

function endsReplacement(bytes: Uint8Array, position: number): boolean {
  let at = position - 2;
  while (at > position - 2 - LONGEST_ID && ID[bytes[at] ?? 0] === 1) at--;
  const start = at - REPLACEMENT_START.length + 1;
  return start >= 0 && REPLACEMENT_START.every((byte, i) => bytes[start + i] === byte);
}

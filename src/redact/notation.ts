import { byteTable, isDigit, isLower, isUpper, lowered } from './charset.ts';
import { isQuote } from './swallow.ts';
import type { View } from './view.ts';

const BACKSLASH = 0x5c;
const EQUALS = 0x3d;
const COLON = 0x3a;
const GREATER = 0x3e;
const LESS = 0x3c;
const PERCENT = 0x25;
const SPACE = 0x20;
const TAB = 0x09;
const BLANK_LIMIT = 24;
const ESCAPE_LIMIT = 3;
const SCHEME_LIMIT = 16;
const XML_NAME_LIMIT = 24;
const STRING_PREFIXES = new Set(Buffer.from('bBuUrRfF$@'));
const XML_NAME = byteTable('A-Za-z0-9_.:-');

/** Where the value of an assignment begins, and how it is written. */
export interface Notation {
  readonly valueStart: number;
  /** The quote around the value, or 0. */
  readonly quote: number;
  /** Backslashes before that quote. */
  readonly depth: number;
  readonly isTight: boolean;
}

/**
 * Reads what may stand between a keyword and its value: `=`, `: `, `":"`, `\":\"`, ` => '`, `>` after an XML tag.
 * Sets `view.hold` once a byte may belong to the value; before that nothing of the candidate is a secret.
 */
export function readNotation(view: View, keywordStart: number, keywordEnd: number): Notation | undefined {
  const named = skipClosing(view, keywordEnd);
  const separator = skipBlanks(view, named);
  const width = separatorWidth(view, separator, keywordStart);
  if (width === 0) return undefined;
  const from = skipBlanks(view, separator + width);
  const isColon = view.at(separator) === COLON;
  const isTight = separator === named && from === separator + width && !isColon;
  view.hold = from;
  const opening = readOpening(view, from);
  if (!view.need) view.hold = opening.end;
  return { valueStart: opening.end, quote: opening.quote, depth: opening.depth, isTight };
}

/** The quote and bracket that close the keyword: `"token":`, `\"token\":`, `["token"] =`. */
function skipClosing(view: View, from: number): number {
  let at = from;
  while (at < from + ESCAPE_LIMIT && view.at(at) === BACKSLASH) at++;
  if (!isQuote(view.at(at))) return from;
  return view.at(at + 1) === 0x5d ? at + 2 : at + 1;
}

function skipBlanks(view: View, from: number): number {
  let at = from;
  while (at < from + BLANK_LIMIT && isBlank(view.at(at))) at++;
  return at;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

/** `=`, `==`, `===`, `=>`, `:`, `:=`, `%3D`, `%3A`, and `>` of an XML tag; 0 for anything else, `::` among it. */
function separatorWidth(view: View, at: number, keywordStart: number): number {
  const byte = view.at(at);
  if (byte === EQUALS) {
    const next = view.at(at + 1);
    if (next === GREATER) return 2;
    if (next !== EQUALS) return 1;
    return view.at(at + 2) === EQUALS ? 3 : 2;
  }
  if (byte === COLON) {
    const next = view.at(at + 1);
    if (next === COLON || isResourceName(view, at + 1, keywordStart)) return 0;
    return next === EQUALS ? 2 : 1;
  }
  if (byte === PERCENT) return isEncodedSeparator(view, at + 1) ? 3 : 0;
  return byte === GREATER && isXmlTag(view.bytes, keywordStart) ? 1 : 0;
}

/** `arn:…:secret:name` names a secret; the value is elsewhere. */
function isResourceName(view: View, after: number, keywordStart: number): boolean {
  return view.bytes[keywordStart - 1] === COLON && !isBlank(view.at(after));
}

function isEncodedSeparator(view: View, at: number): boolean {
  if (view.at(at) !== 0x33) return false;
  const digit = lowered(view.at(at + 1));
  return digit === 0x64 || digit === 0x61;
}

function isXmlTag(bytes: Uint8Array, keywordStart: number): boolean {
  let at = keywordStart - 1;
  while (at >= keywordStart - XML_NAME_LIMIT && XML_NAME[bytes[at] ?? 0] === 1) at--;
  return bytes[at] === LESS;
}

function readOpening(view: View, from: number): { end: number; quote: number; depth: number } {
  let at = from;
  if (STRING_PREFIXES.has(view.at(at)) && isQuote(view.at(at + 1))) at++;
  const slashes = at;
  while (at < slashes + ESCAPE_LIMIT && view.at(at) === BACKSLASH) at++;
  const quote = view.at(at);
  if (!isQuote(quote)) return { end: from, quote: 0, depth: 0 };
  return { end: at + 1, quote, depth: at - slashes };
}

/** The position after a scheme word and its blanks (`Bearer `), or `from` when none of them stands there. */
export function skipScheme(view: View, from: number, schemes: readonly string[]): number {
  let at = from;
  let word = '';
  while (at < from + SCHEME_LIMIT && isSchemeByte(view.at(at))) word += String.fromCharCode(lowered(view.at(at++)));
  if (!schemes.includes(word) || !isBlank(view.at(at))) return from;
  return skipBlanks(view, at);
}

function isSchemeByte(byte: number): boolean {
  return isLower(byte) || isUpper(byte) || isDigit(byte) || byte === 0x2d;
}

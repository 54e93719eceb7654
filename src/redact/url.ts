import { byteTable, isDigit, printableExcept, WORD } from './charset.ts';
import { isVerified, type Matcher, type Opening } from './opening.ts';
import { REPLACEMENT_START } from './replacement.ts';
import type { RunSwallow } from './swallow.ts';
import type { UrlRule } from './types.ts';
import type { View } from './view.ts';

export const URL_ANCHOR = '://';
const USER_LIMIT = 128;
const PASSWORD_LIMIT = 256;
const OPEN_MINIMUM = 4;
const AT_SIGN = 0x40;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const NOT_IN_URL = ' /?#"\'<>`{}|^\\';
const USER = printableExcept(`${NOT_IN_URL}@:[]`);
const PASSWORD = printableExcept(NOT_IN_URL);
const SWALLOWED = printableExcept(`${NOT_IN_URL}@`);
const SCHEME = byteTable('A-Za-z0-9+.-');
const IMAGE_DIGEST = Buffer.from('sha256:');

/** In `scheme://user:password@host` the password reaches to the last `@` before the path. */
export function urlMatcher(rule: UrlRule, index: number): Matcher {
  const swallow: RunSwallow = { kind: 'run', rule: index, table: SWALLOWED };
  return (view, position, length) => {
    const start = passwordStart(view, position, length);
    if (start < 0) return undefined;
    view.hold = start;
    const found = readPassword(view, start, swallow);
    if (found === undefined || view.need || !isVerified(rule, view, start, found.resume)) return undefined;
    return found;
  };
}

function passwordStart(view: View, position: number, length: number): number {
  if (SCHEME[view.bytes[position - 1] ?? 0] !== 1) return -1;
  const from = position + length;
  for (let at = from; at < from + USER_LIMIT; at++) {
    const byte = view.at(at);
    if (byte === COLON) return at + 1;
    if (byte < 0 || USER[byte] !== 1) return -1;
  }
  return -1;
}

function readPassword(view: View, start: number, swallow: RunSwallow): Opening | undefined {
  let lastAt = -1;
  let onlyDigits = true;
  let at = start;
  for (; at < start + PASSWORD_LIMIT; at++) {
    const byte = view.at(at);
    if (byte < 0 || PASSWORD[byte] !== 1) break;
    if (byte === OPENING_BRACKET && isReplacement(view, at)) return undefined;
    if (byte === AT_SIGN) {
      if (IMAGE_DIGEST.every((expected, i) => view.at(at + 1 + i) === expected)) return undefined;
      lastAt = at;
    } else if (lastAt < 0 && !isDigit(byte)) onlyDigits = false;
  }
  if (lastAt > start) return { start, resume: lastAt, swallow: undefined };
  // No port is that long, and no end within reach: taken for a password rather than waited for.
  if (lastAt < 0 && at === start + PASSWORD_LIMIT) return { start, resume: at, swallow };
  const isOpen = view.isAtCut(at) && !onlyDigits && at - start >= OPEN_MINIMUM && WORD[view.bytes[start] ?? 0] === 1;
  return isOpen ? { start, resume: at, swallow } : undefined;
}

function isReplacement(view: View, start: number): boolean {
  return REPLACEMENT_START.every((byte, i) => view.at(start + i) === byte);
}

import { isWordBoundary, LOOKBEHIND } from './boundary.ts';
import { type ByteTable, byteTable, isDigit } from './charset.ts';
import { isVerified, type Matcher } from './opening.ts';
import { hasShape } from './shape.ts';
import type { RunSwallow } from './swallow.ts';
import type { TokenRule } from './types.ts';
import type { View } from './view.ts';

/** Bytes after the anchor from which a token cut off by the stream's end is redacted; more for a short anchor. */
const OPEN_MINIMUM = 4;
const OPEN_MINIMUM_SHORT = 8;
const SHORT_ANCHOR = 4;

export function tokenMatcher(rule: TokenRule, index: number): Matcher {
  const table = byteTable(rule.charset);
  const swallow: RunSwallow = { kind: 'run', rule: index, table };
  const anchors = rule.anchors.map((anchor) => Buffer.from(anchor));
  const exceptions = (rule.except ?? []).map((text) => Buffer.from(text));
  return (view, position, length) => {
    const from = position + length;
    const start = rule.keepAnchor === true ? from : position;
    view.hold = start;
    if (!hasContext(rule, view, position)) return undefined;
    if (rule.keepAnchor === true && rule.ignoreCase !== true && !isOneOf(anchors, view, position, length))
      return undefined;
    const run = runLength(view, from, table, rule.minimum);
    if (run < rule.minimum)
      return isOpenAtCut(view, from, run, length) ? { start, resume: from + run, swallow } : undefined;
    if (rule.maximum !== undefined && runLength(view, from, table, rule.maximum + 1) > rule.maximum) return undefined;
    if (isOneOf(exceptions, view, position)) return undefined;
    if (rule.shape !== undefined && !hasShape(rule.shape, view, from, table)) return undefined;
    if (view.need || !isVerified(rule, view, position, from + run)) return undefined;
    return { start, resume: from + run, swallow };
  };
}

function hasContext(rule: TokenRule, view: View, position: number): boolean {
  if (rule.boundary === 'word' && !isWordBoundary(view.bytes, position)) return false;
  const digits = Math.min(rule.digitsBefore ?? 0, LOOKBEHIND);
  for (let i = 1; i <= digits; i++) if (!isDigit(view.bytes[position - i] ?? 0)) return false;
  return true;
}

function runLength(view: View, from: number, table: ByteTable, limit: number): number {
  let run = 0;
  while (run < limit) {
    const byte = view.at(from + run);
    if (byte < 0 || table[byte] !== 1) break;
    run++;
  }
  return run;
}

function isOneOf(texts: readonly Buffer[], view: View, position: number, length?: number): boolean {
  return texts.some(
    (text) =>
      (length === undefined || text.length === length) && text.every((byte, i) => view.at(position + i) === byte),
  );
}

function isOpenAtCut(view: View, from: number, run: number, anchorLength: number): boolean {
  return view.isAtCut(from + run) && run >= (anchorLength < SHORT_ANCHOR ? OPEN_MINIMUM_SHORT : OPEN_MINIMUM);
}

import { isWordBoundary } from './boundary.ts';
import { type ByteTable, byteTable, printableExcept } from './charset.ts';
import { type Notation, readNotation, skipScheme } from './notation.ts';
import { isVerified, type Matcher } from './opening.ts';
import { isPlausible } from './plausible.ts';
import { HEAD_BYTES } from './shape.ts';
import { type QuotedSwallow, type RunSwallow, SHELL_JOIN, type Swallow } from './swallow.ts';
import type { AssignmentRule } from './types.ts';
import type { View } from './view.ts';

const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const COOKIE_NAME = byteTable('A-Za-z0-9!#$%&*+.^_|~-');
const COOKIE_NAME_LIMIT = 64;
const SHORTEST_AFTER_SCHEME = 6;
const DEEPEST_QUOTE = 3;

/** What an unquoted value consists of: it ends where shells, JSON, YAML flow style, queries and prose would end it. */
const VALUE = guarded(printableExcept('"\'`<>,;&|)]}'), '[\\');
const LINE = (() => {
  const table = printableExcept('"\'`');
  table[0x20] = 1;
  table[0x09] = 1;
  return table;
})();

export function assignmentMatcher(rule: AssignmentRule, index: number): Matcher {
  const swallows = new Swallows(rule, index);
  const trusted = new Set(rule.trusted ?? []);
  const wholeWord = new Set(rule.wholeWord ?? []);
  return (view, position, length) => {
    const keyword = Buffer.from(view.bytes.subarray(position, position + length))
      .toString('latin1')
      .toLowerCase();
    const isWhole = wholeWord.has(keyword);
    if (isWhole && !isWordBoundary(view.bytes, position)) return undefined;
    const notation = readNotation(view, position, position + length);
    if (notation === undefined || (isWhole && view.at(notation.valueStart) === SLASH)) return undefined;
    const start =
      rule.schemes === undefined ? notation.valueStart : skipScheme(view, notation.valueStart, rule.schemes);
    const hasScheme = start > notation.valueStart;
    if (!isValue(rule, view, start, { ...notation, hasScheme, isTrusted: trusted.has(keyword) })) return undefined;
    if (view.need || !isVerified(rule, view, start, start + 1)) return undefined;
    return { start, resume: start, swallow: swallows.of(notation) };
  };
}

interface ValueContext extends Notation {
  readonly hasScheme: boolean;
  readonly isTrusted: boolean;
}

function isValue(rule: AssignmentRule, view: View, start: number, context: ValueContext): boolean {
  if (rule.value === 'line') return isLineValue(view, start);
  if (rule.value !== 'guess') return hasRun(view, start, byteTable(rule.value.charset), rule.value.minimum);
  const { quote, depth } = context;
  let length = 0;
  let terminator: number | undefined;
  while (length < HEAD_BYTES) {
    const width = valueWidth(view, start + length, quote, depth);
    if (width === 0) {
      terminator = view.at(start + length);
      break;
    }
    length += width;
  }
  const text = Buffer.from(view.bytes.subarray(start, start + Math.min(length, HEAD_BYTES))).toString('latin1');
  if (context.hasScheme) return text.length >= SHORTEST_AFTER_SCHEME && !/^[[$<{(*]/.test(text);
  return isPlausible({ ...context, text, terminator, isQuoted: quote !== 0 });
}

/** How many bytes of the value stand at `at` and belong together; 0 where the value ends. */
function valueWidth(view: View, at: number, quote: number, depth: number): number {
  const byte = view.at(at);
  if (byte < 0) return 0;
  if (quote === 0) return VALUE[byte] === 0 || (byte === BACKSLASH && VALUE[view.at(at + 1)] === 0) ? 0 : 1;
  if (byte === LINE_FEED || byte === CARRIAGE_RETURN) return 0;
  if (byte === quote) return depth === 0 && isShellJoin(view, at) ? SHELL_JOIN.length : 0;
  if (byte !== BACKSLASH) return 1;
  if (depth === 0) return 2;
  return view.at(at + depth) === quote ? 0 : 1;
}

function isShellJoin(view: View, at: number): boolean {
  return SHELL_JOIN.every((byte, i) => view.at(at + i) === byte);
}

/** A cookie header: a name and a `=`. */
function isLineValue(view: View, start: number): boolean {
  for (let i = 0; i < COOKIE_NAME_LIMIT; i++) {
    const byte = view.at(start + i);
    if (byte === EQUALS) return i > 0;
    if (byte < 0 || COOKIE_NAME[byte] !== 1) return false;
  }
  return false;
}

function hasRun(view: View, start: number, table: ByteTable, minimum: number): boolean {
  for (let i = 0; i < minimum; i++) {
    const byte = view.at(start + i);
    if (byte < 0 || table[byte] !== 1) return false;
  }
  return true;
}

/** One swallow per notation, so that overlapping matches of the same notation are known to end together. */
class Swallows {
  readonly #unquoted: RunSwallow;
  readonly #quoted = new Map<number, QuotedSwallow>();
  readonly #rule: number;

  constructor(rule: AssignmentRule, index: number) {
    this.#rule = index;
    const table = rule.value === 'line' ? LINE : rule.value === 'guess' ? VALUE : byteTable(rule.value.charset);
    this.#unquoted = { kind: 'run', rule: index, table };
  }

  of({ quote, depth }: Notation): Swallow {
    if (quote === 0 || this.#unquoted.table !== VALUE) return this.#unquoted;
    const key = quote * (DEEPEST_QUOTE + 1) + depth;
    const known = this.#quoted.get(key);
    if (known !== undefined) return known;
    const swallow: QuotedSwallow = { kind: 'quoted', rule: this.#rule, quote, depth };
    this.#quoted.set(key, swallow);
    return swallow;
  }
}

function guarded(table: ByteTable, guards: string): ByteTable {
  for (const guard of guards) table[guard.charCodeAt(0)] = 2;
  return table;
}

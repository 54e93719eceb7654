import type { ByteTable } from './charset.ts';
import { REPLACEMENT_START } from './replacement.ts';

/** How far a match reaches, once it is one. Matches with the same swallow that overlap end at the same byte. */
export type Swallow = RunSwallow | QuotedSwallow | BlockSwallow;

export interface RunSwallow {
  readonly kind: 'run';
  readonly rule: number;
  /** 1: swallow; 2: swallow unless a replacement text or an escaped quote begins here; 0: stop. */
  readonly table: ByteTable;
}

export interface QuotedSwallow {
  readonly kind: 'quoted';
  readonly rule: number;
  readonly quote: number;
  /** Backslashes before the quotes: 1 within a JSON string inside a JSON string. */
  readonly depth: number;
}

export interface BlockSwallow {
  readonly kind: 'block';
  readonly rule: number;
  readonly label: string;
}

/** A match whose end is not known; `resume` is the first byte not yet swallowed, `slashes` the backslashes before it. */
export interface Progress {
  readonly swallow: Swallow;
  resume: number;
  slashes: number;
}

const BACKSLASH = 0x5c;
const SINGLE_QUOTE = 0x27;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BLOCK_END = Buffer.from('-----END ');
const DASHES = '-----';
const LABEL_LIMIT = 64;

/** Within single quotes: `'foo'\''bar'` is one word to a shell. */
export const SHELL_JOIN: readonly number[] = [SINGLE_QUOTE, BACKSLASH, SINGLE_QUOTE, SINGLE_QUOTE];

/** Swallows on; returns where the match ends, or -1 while that is open. Positions are indices into `bytes`. */
export function advance(progress: Progress, bytes: Uint8Array, final: boolean): number {
  const { swallow } = progress;
  if (swallow.kind === 'run') return advanceRun(progress, swallow, bytes, final);
  if (swallow.kind === 'quoted') return advanceQuoted(progress, swallow, bytes, final);
  return advanceBlock(progress, bytes, final);
}

function advanceRun(progress: Progress, { table }: RunSwallow, bytes: Uint8Array, final: boolean): number {
  let at = progress.resume;
  for (;;) {
    while (table[bytes[at] as number] === 1) at++;
    if (at >= bytes.length) break;
    if (table[bytes[at] as number] === 0) return at;
    const stop = stopsAtGuard(bytes, at);
    if (stop === 'yes') return at;
    if (stop === 'unknown' && !final) break;
    at++;
  }
  progress.resume = at;
  return final ? bytes.length : -1;
}

/** A `[` stops at a replacement text, a backslash stops before a quote. */
function stopsAtGuard(bytes: Uint8Array, at: number): 'yes' | 'no' | 'unknown' {
  if (bytes[at] === BACKSLASH) {
    if (at + 1 >= bytes.length) return 'unknown';
    return isQuote(bytes[at + 1] as number) ? 'yes' : 'no';
  }
  for (let i = 0; i < REPLACEMENT_START.length; i++) {
    if (at + i >= bytes.length) return 'unknown';
    if (bytes[at + i] !== REPLACEMENT_START[i]) return 'no';
  }
  return 'yes';
}

export function isQuote(byte: number): boolean {
  return byte === 0x22 || byte === SINGLE_QUOTE || byte === 0x60;
}

function advanceQuoted(progress: Progress, swallow: QuotedSwallow, bytes: Uint8Array, final: boolean): number {
  const { quote, depth } = swallow;
  let { resume: at, slashes } = progress;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === BACKSLASH) {
      slashes++;
      continue;
    }
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) return at;
    if (byte === quote && closes(slashes, depth)) {
      const joined = depth === 0 && quote === SINGLE_QUOTE ? shellJoin(bytes, at, final) : 'no';
      if (joined === 'unknown') break;
      if (joined === 'no') return at - Math.min(slashes, depth);
      at += 3;
    }
    slashes = 0;
  }
  if (final) return bytes.length;
  // Backslashes that may belong to the closing quote are not swallowed yet.
  const undecided = slashes > 0 && slashes <= depth ? slashes : 0;
  progress.resume = at - undecided;
  progress.slashes = undecided > 0 ? 0 : depth === 0 ? slashes % 2 : slashes;
  return -1;
}

function closes(slashes: number, depth: number): boolean {
  return depth === 0 ? slashes % 2 === 0 : slashes <= depth;
}

function shellJoin(bytes: Uint8Array, at: number, final: boolean): 'yes' | 'no' | 'unknown' {
  for (let i = 1; i < SHELL_JOIN.length; i++) {
    if (at + i >= bytes.length) return final ? 'no' : 'unknown';
    if (bytes[at + i] !== SHELL_JOIN[i]) return 'no';
  }
  return 'yes';
}

function advanceBlock(progress: Progress, bytes: Uint8Array, final: boolean): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let from = progress.resume;
  for (;;) {
    const at = text.indexOf(BLOCK_END, from);
    if (at < 0) break;
    const end = labelEnd(text, at + BLOCK_END.length);
    if (end > 0) return end;
    if (end < 0 && !final) {
      progress.resume = at;
      return -1;
    }
    from = at + 1;
  }
  if (final) return bytes.length;
  progress.resume = Math.max(from, bytes.length - BLOCK_END.length + 1);
  return -1;
}

/** The position after `…-----`; 0 when this is no label; -1 when more bytes are needed. */
function labelEnd(text: Buffer, from: number): number {
  for (let at = from; at < from + LABEL_LIMIT; at++) {
    if (at >= text.length) return -1;
    const byte = text[at] as number;
    if (byte === 0x2d) {
      const seen = text.toString('latin1', at, at + DASHES.length);
      if (seen === DASHES) return at + DASHES.length;
      return seen.length < DASHES.length && DASHES.startsWith(seen) ? -1 : 0;
    }
    if (!isLabelByte(byte)) return 0;
  }
  return 0;
}

/** Upper-case letters, digits and spaces. */
export function isLabelByte(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a);
}

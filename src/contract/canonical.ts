import canonicalize from 'canonicalize';
import { ReceiptsError } from './errors.ts';

const MAX_DEPTH = 64;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** RFC 8785 bytes of a JSON value. Throws on NaN, infinities and lone surrogates. */
export function canonicalBytes(value: unknown): Buffer {
  return Buffer.from(canonicalText(value), 'utf8');
}

export function canonicalText(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new ReceiptsError('INTERNAL', 'a value without a JSON form cannot be signed');
  return text;
}

/**
 * The one reader of signed JSON. The bytes are controlled by whoever holds the evidence, so nothing is trusted before
 * they are shown to be exactly the canonical form of what they parse to: that alone refuses duplicate keys, numbers past
 * 2^53, other spellings of a number or string, white space and a byte-order mark.
 */
export function parseCanonical(bytes: Uint8Array, where: string): unknown {
  const malformed = (message: string, cause?: unknown) => new ReceiptsError('MALFORMED', message, { where, cause });
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (error) {
    throw malformed('not valid UTF-8', error);
  }
  let value: unknown;
  let canonical: string | undefined;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed(`not JSON: ${error instanceof Error ? error.message.slice(0, 120) : 'unreadable'}`, error);
  }
  // RFC 8785 takes the form of numbers and strings from ECMAScript, so the built-in serializer writes the canonical text of a
  // value whose members are in order. It escapes lone surrogates, which canonical JSON cannot hold.
  if (hasSortedMembers(value, malformed, 1) && JSON.stringify(value) === text && !text.includes('\\ud')) return value;
  try {
    canonical = canonicalize(value);
  } catch (error) {
    throw malformed('holds a number or string that canonical JSON cannot express', error);
  }
  if (canonical !== text)
    throw malformed(`not canonical JSON (RFC 8785) from character ${firstDifference(canonical ?? '', text)} on`);
  return value;
}

/** Whether members stand in the order of RFC 8785 §3.2.3 (UTF-16 code units). Refuses what is nested too deeply to walk. */
function hasSortedMembers(value: unknown, malformed: (message: string) => ReceiptsError, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) throw malformed(`nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.filter((item) => !hasSortedMembers(item, malformed, depth + 1)).length === 0;
  let sorted = true;
  let before = '';
  for (const [name, member] of Object.entries(value)) {
    if (name < before) sorted = false;
    before = name;
    if (!hasSortedMembers(member, malformed, depth + 1)) sorted = false;
  }
  return sorted;
}

function firstDifference(left: string, right: string): number {
  let index = 0;
  while (index < left.length && index < right.length && left[index] === right[index]) index++;
  return index;
}

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
  refuseDeepNesting(text, malformed);
  let value: unknown;
  let canonical: string | undefined;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed(`not JSON: ${error instanceof Error ? error.message.slice(0, 120) : 'unreadable'}`, error);
  }
  try {
    canonical = canonicalize(value);
  } catch (error) {
    throw malformed('holds a number or string that canonical JSON cannot express', error);
  }
  if (canonical !== text)
    throw malformed(`not canonical JSON (RFC 8785) from character ${firstDifference(canonical ?? '', text)} on`);
  return value;
}

function refuseDeepNesting(text: string, malformed: (message: string) => ReceiptsError): void {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > MAX_DEPTH) throw malformed(`nested deeper than ${MAX_DEPTH} levels`);
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
}

function firstDifference(left: string, right: string): number {
  let index = 0;
  while (index < left.length && index < right.length && left[index] === right[index]) index++;
  return index;
}

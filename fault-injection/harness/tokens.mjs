import { createHash } from 'node:crypto';

/** Prefixes of well-known formats with what follows them. Bodies are made here, so that no file holds anything like a secret. */
const FORMATS = [
  ['ghp_', 36, 'alphanumeric'],
  ['github_pat_', 82, 'alphanumeric'],
  ['glpat-', 20, 'alphanumeric'],
  ['npm_', 36, 'alphanumeric'],
  ['AKIA', 16, 'upper'],
  ['sk-ant-', 95, 'alphanumeric'],
  ['sk-proj-', 48, 'alphanumeric'],
  ['sk_live_', 24, 'alphanumeric'],
  ['xoxb-', 40, 'alphanumeric'],
];
const ALPHABETS = {
  alphanumeric: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
};

function bodyOf(length, alphabet, seed) {
  const letters = ALPHABETS[alphabet];
  let body = '';
  for (let block = 0; body.length < length; block++) {
    for (const byte of createHash('sha512').update(`${seed}/${block}`).digest()) body += letters[byte % letters.length];
  }
  return body.slice(0, length);
}

/** One synthetic token of each format; another `seed` gives others. */
export function tokens(seed) {
  return FORMATS.map(([prefix, length, alphabet]) => {
    const body = bodyOf(length, alphabet, `${seed}/${prefix}`);
    return { prefix, body, text: prefix + body };
  });
}

/** A value without any format, with characters that each encoding writes differently. */
export function literal(seed) {
  const body = `${bodyOf(9, 'alphanumeric', seed)}/+&=?${bodyOf(17, 'alphanumeric', `${seed}'`)}`;
  return { prefix: '', body, text: body };
}

/** The forms of a text that are searched for: raw, base64 at its three alignments, base64url, hex, URI component. */
export function formsOf(text) {
  const bytes = Buffer.from(text, 'utf8');
  const uri = encodeURIComponent(text);
  const aligned = [0, 1, 2].flatMap((shift) => {
    const inner = base64Inside(bytes, shift);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const hex = bytes.toString('hex');
  const lowerUri = uri.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [...new Set([text, hex, hex.toUpperCase(), uri, lowerUri, ...aligned])];
}

/** The characters of base64 that depend on `bytes` alone when it stands `shift` bytes behind a boundary. */
function base64Inside(bytes, shift) {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const first = Math.ceil((shift * 8) / 6);
  const last = Math.floor(((shift + bytes.length) * 8) / 6);
  return encoded.slice(first, last);
}

/** What of a token must be found nowhere: it all, and either end of what follows its prefix. */
export function needlesOf({ text, body }) {
  const parts = [text, body.slice(0, 14), body.slice(-14)];
  return [...new Set(parts.flatMap(formsOf))];
}

const NEVER_ENCODED = /^[\w.-]*$/;
const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:[/\\?#]|$)/;
const PATH = 'http://h/';

/** Beyond RFC 3986's unreserved characters, which common programs leave as they are as well; `%` stands last. */
const LEFT_ALONE = [
  "!'()*", // encodeURIComponent
  "!'()*#$&+,/:;=?@", // encodeURI
  '/', // Python's quote
  '$&+:=@', // Go's PathEscape
  "!$&'()*+,%", // a WHATWG URL's user and password
].map(codesOf);
const COMPONENT = codesOf("!'()*");
const ASTERISK = codesOf('*');

/** The value in a URI: as the encoders of several languages and the URL parser write it, with `%2F` and `%2f`. */
export function uriForms(value: string): string[] {
  if (NEVER_ENCODED.test(value)) return [];
  const text = value.toWellFormed();
  const strict = encodeURIComponent(text).replace(/[!'()*]/g, codeOf);
  const codes = new Set(strict.match(/%[0-9A-F]{2}/g));
  const kept = LEFT_ALONE.map((list) => list.filter(([code]) => codes.has(code))).filter((list) => list.length > 0);
  const escaped = [strict, ...kept.map((list) => decoded(strict, list))];
  const forms = new Set([...escaped, ...formValues(strict), ...parsed(text)]);
  const letters = [...codes, '%7E'].filter((code) => /[A-F]/.test(code));
  for (const form of [...forms])
    forms.add(letters.reduce((lower, code) => lower.replaceAll(code, code.toLowerCase()), form));
  return [...forms];
}

/** `application/x-www-form-urlencoded`: Python and Go, jQuery, WHATWG and Java, PHP. */
function formValues(strict: string): string[] {
  const plain = strict.replaceAll('%20', '+');
  const tilde = plain.replaceAll('~', '%7E');
  return [plain, decoded(plain, COMPONENT), decoded(tilde, ASTERISK), tilde];
}

/** The value behind a host, in a query and in a fragment. Where it holds `..`, the parser would shorten it. */
function parsed(text: string): string[] {
  const starts = DOT_SEGMENT.test(text) ? ['?', '#'] : ['', '?', '#'];
  return starts.map((start) => new URL(PATH + start + text).href.slice(PATH.length + start.length));
}

function codeOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function codesOf(characters: string): Array<readonly [code: string, character: string]> {
  return Array.from(characters, (character) => [codeOf(character), character] as const);
}

function decoded(encoded: string, codes: ReadonlyArray<readonly [string, string]>): string {
  return codes.reduce((text, [code, character]) => text.replaceAll(code, character), encoded);
}

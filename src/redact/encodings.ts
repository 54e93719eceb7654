import { uriForms } from './uri-forms.ts';

/** Columns at which `base64`, MIME and OpenSSL break lines. */
const WRAP_COLUMNS = [76, 64];

/** Every way in which common programs print `value`, itself first. Duplicates are possible. */
export function encodedForms(value: string): Buffer[] {
  const raw = Buffer.from(value);
  const utf16 = Buffer.from(value, 'utf16le');
  const texts = new Set([...hexForms(raw), ...textForms(value)]);
  texts.delete(value);
  return [raw, utf16, ...base64Forms(raw), ...[...texts].map((text) => Buffer.from(text))];
}

/** Without and with `:` or a space between the bytes. */
function hexForms(raw: Buffer): string[] {
  const hex = raw.toString('hex');
  const forms = [hex, hex.replace(/..(?=.)/g, '$&:'), hex.replace(/..(?=.)/g, '$& ')];
  return [...forms, ...forms.map((form) => form.toUpperCase())];
}

/**
 * Base64 of the value alone, with a line end, and anywhere inside something longer: there the characters that hold
 * only bits of the value are the same at each of three shifts; the ones at the edges depend on the neighbours.
 */
function base64Forms(raw: Buffer): Buffer[] {
  const whole = [raw.toString('base64'), Buffer.concat([raw, Buffer.from('\n')]).toString('base64')];
  const shifted = [0, 1, 2].map((shift) => shiftedBase64(raw, shift));
  const plain = [...whole, ...shifted];
  const urlSafe = plain.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [...plain, ...urlSafe, ...whole.flatMap(wrapped)].map((text) => Buffer.from(text));
}

function shiftedBase64(raw: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), raw]).toString('base64');
  return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + raw.length) * 8) / 6));
}

function wrapped(text: string): string[] {
  return WRAP_COLUMNS.filter((columns) => text.length > columns).flatMap((columns) => {
    const lines = text.match(new RegExp(`.{1,${columns}}`, 'g')) ?? [];
    return [lines.join('\n'), lines.join('\r\n')];
  });
}

function textForms(value: string): string[] {
  return [...uriForms(value), ...stringEscapes(value), ...markupForms(value), ...shellForms(value)];
}

/** JSON as JavaScript, PHP, Python and Go write it, and Go's `%q`. */
function stringEscapes(value: string): string[] {
  if (!/["\\/<>&]|[^\x20-\x7e]/.test(value)) return [];
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = json.replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const go = json.replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
  return [json, json.replaceAll('/', '\\/'), ascii, go, goQuoted(json)];
}

const GO_NAMES: Readonly<Record<string, string>> = { '0007': '\\a', '000b': '\\v' };

function goQuoted(json: string): string {
  return json.replace(/\\u(00[01][0-9a-f])/g, (_all, code: string) => GO_NAMES[code] ?? `\\x${code.slice(2)}`);
}

function markupForms(value: string): string[] {
  if (!/[&<>"']/.test(value)) return [];
  const basic = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quotes = [
    ['&quot;', '&#39;'],
    ['&quot;', '&apos;'],
    ['&quot;', '&#x27;'],
    ['&quot;', "'"],
    ['&#34;', '&#39;'],
  ];
  return [basic, ...quotes.map(([double = '', single = '']) => basic.replaceAll('"', double).replaceAll("'", single))];
}

/** Inside single quotes as bash and dash trace it, inside double quotes, `$'…'`, `printf %q`, and Batch. */
function shellForms(value: string): string[] {
  if (/^[\w.,:/@+=-]*$/.test(value)) return [];
  return [
    value.replaceAll("'", `'\\''`),
    value.replaceAll("'", `'"'"'`),
    value.replace(/["\\$`]/g, '\\$&'),
    value.replace(/["\\$`!]/g, '\\$&'),
    ansiQuoted(value, false),
    ansiQuoted(value, true),
    value.replace(/[^\w.,:/@+=%-]/gu, '\\$&'),
    value.replace(/[&|<>^]/g, '^$&'),
    value.replaceAll('%', '%%'),
    value.replace(/[&|<>^]/g, '^$&').replaceAll('%', '%%'),
  ];
}

const ANSI_NAMES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
  '\u001b': '\\E',
};

function ansiQuoted(value: string, ascii: boolean): string {
  let text = '';
  for (const character of value) {
    const isPlain = character >= ' ' && character !== '\u007f' && (!ascii || character <= '~');
    const octal = () => [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
    text += ANSI_NAMES[character] ?? (isPlain ? character : octal());
  }
  return text;
}

/**
 * The first line of a script, read as `fs/binfmt_script.c` reads it (Linux 5.1 and later): from the first 256 bytes,
 * the last of which counts as the end; a name that reaches that end may be cut off and is not run.
 */
export const SHEBANG_BYTES = 256;

export interface Shebang {
  readonly interpreter: string;
  /** All the rest of the line is one argument. */
  readonly argument?: string;
  /** The line after `#!`, for the record. */
  readonly line: string;
}

const NEWLINE = 0x0a;

/** Undefined where the kernel would answer ENOEXEC: no `#!`, no interpreter, or a name cut off at the limit. */
export function parseShebang(head: Uint8Array): Shebang | undefined {
  const buffer = Buffer.alloc(SHEBANG_BYTES);
  buffer.set(head.subarray(0, SHEBANG_BYTES));
  if (buffer.toString('latin1', 0, 2) !== '#!') return undefined;
  const end = lineEnd(buffer);
  if (end === undefined) return undefined;
  const nameStart = skipBlanks(buffer, 2, end);
  if (nameStart === end) return undefined;
  const nameEnd = terminator(buffer, nameStart, end);
  const interpreter = cString(buffer, nameStart, nameEnd);
  if (interpreter === '') return undefined;
  const argumentStart = skipBlanks(buffer, nameEnd, end);
  const argument = buffer[nameEnd] === 0 ? '' : cString(buffer, argumentStart, end);
  const line = cString(buffer, 2, end);
  return argument === '' ? { interpreter, line } : { interpreter, argument, line };
}

/** Behind the last byte that counts, trailing blanks removed. */
function lineEnd(buffer: Buffer): number | undefined {
  let end = buffer.indexOf(NEWLINE);
  if (end < 0) {
    end = SHEBANG_BYTES - 1;
    const first = skipBlanks(buffer, 2, end);
    if (first === end || terminator(buffer, first, end) === end) return undefined;
  }
  while (end > 2 && isBlank(buffer[end - 1])) end--;
  return end;
}

function skipBlanks(buffer: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && isBlank(buffer[at])) at++;
  return at;
}

/** The first blank or NUL, or `end`. */
function terminator(buffer: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && !isBlank(buffer[at]) && buffer[at] !== 0) at++;
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09;
}

function cString(buffer: Buffer, from: number, end: number): string {
  const nul = buffer.indexOf(0, from);
  return buffer.toString('utf8', from, nul >= 0 && nul < end ? nul : end);
}

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
  const nameStart = nonBlank(buffer, 2, end);
  if (nameStart === undefined || nameStart === end) return undefined;
  const separator = terminator(buffer, nameStart, end);
  const argumentStart =
    separator !== undefined && buffer[separator] !== 0 ? nonBlank(buffer, separator, end) : undefined;
  buffer[end] = 0;
  const line = cString(buffer, 2, end);
  const interpreter = cString(buffer, nameStart, separator ?? end);
  if (interpreter === '') return undefined;
  if (argumentStart === undefined) return { interpreter, line };
  return { interpreter, argument: cString(buffer, argumentStart, end), line };
}

/**
 * Where the line ends, trailing blanks before a newline removed. Without a newline in reach the whole buffer counts:
 * blanks at the end of a short file are then followed by the kernel's own NULs and make an empty argument.
 */
function lineEnd(buffer: Buffer): number | undefined {
  const last = SHEBANG_BYTES - 1;
  let end = buffer.indexOf(NEWLINE);
  if (end < 0) {
    const first = nonBlank(buffer, 2, last);
    if (first === undefined || terminator(buffer, first, last) === undefined) return undefined;
    end = last;
  }
  while (end > 2 && isBlank(buffer[end - 1])) end--;
  return end;
}

/** Both look from `from` to `last`, that one included. */
function nonBlank(buffer: Buffer, from: number, last: number): number | undefined {
  for (let at = from; at <= last; at++) if (!isBlank(buffer[at])) return at;
  return undefined;
}

function terminator(buffer: Buffer, from: number, last: number): number | undefined {
  for (let at = from; at <= last; at++) if (isBlank(buffer[at]) || buffer[at] === 0) return at;
  return undefined;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09;
}

function cString(buffer: Buffer, from: number, end: number): string {
  const nul = buffer.indexOf(0, from);
  return buffer.toString('utf8', from, nul >= 0 && nul < end ? nul : end);
}

/**
 * Text out of evidence is shown on a terminal, and whoever wrote the command chose it: what could move the cursor, recolour,
 * hide or reorder the text is spelled out instead.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** One argument as a person would type it for a POSIX shell. */
export function quoted(argument: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(argument)) return argument;
  return `'${visible(argument).replaceAll("'", "'\\''")}'`;
}

/** Breaks at spaces so that no line is wider than `width` columns, and inside a word only where it alone is wider. */
export function wrapped(text: string, width: number, first: string, rest: string): string[] {
  const lines: string[] = [];
  let line = first;
  let empty = true;
  for (const word of text.split(' ')) {
    for (const piece of pieces(word, width - Math.max(first.length, rest.length))) {
      if (!empty && line.length + 1 + piece.length > width) {
        lines.push(line);
        line = rest;
        empty = true;
      }
      line += empty ? piece : ` ${piece}`;
      empty = false;
    }
  }
  return [...lines, line];
}

function pieces(word: string, width: number): string[] {
  const characters = Array.from(word);
  if (characters.length <= width) return [word];
  const found: string[] = [];
  for (let start = 0; start < characters.length; start += width)
    found.push(characters.slice(start, start + width).join(''));
  return found;
}

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

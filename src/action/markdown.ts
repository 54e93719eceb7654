/*
 * Text that a command chose goes into tables. Every character but letters, digits and blanks becomes a numeric entity: an
 * entity never stands for structure (CommonMark 0.31 §2.5), so no pipe, backtick, tag, link or mention comes out of it.
 */

/** One cell of a table, in code type, cut after `longest` characters. */
export function codeCell(text: string, longest = 160): string {
  const characters = [...text.replaceAll(/\s+/gu, ' ').trim()];
  const shown = characters.length > longest ? [...characters.slice(0, longest - 1), '…'] : characters;
  return shown.length === 0 ? '' : `<code>${escaped(shown.join(''))}</code>`;
}

export function textCell(text: string): string {
  return escaped(text.replaceAll(/\s+/gu, ' '));
}

export function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  return `${line(head)}${line(head.map(() => '---'))}${rows.map(line).join('')}\n`;
}

/** Invisible characters, among them those that turn the direction of writing, are shown as replaced. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu, '\ufffd')
    .replaceAll(/[!-/:-@[-`{-~]/g, (character) => `&#${character.charCodeAt(0)};`);
}

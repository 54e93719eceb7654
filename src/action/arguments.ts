/**
 * Splits a command line as .NET does on Unix (ParseArgumentsIntoList of System.Diagnostics.Process), which is how the
 * runner's custom shells are read: spaces and tabs separate, double quotes group and double inside themselves, a backslash
 * means something only before a quote.
 */
export function splitArguments(line: string): string[] {
  const list: string[] = [];
  let position = 0;
  while (position < line.length) {
    if (isSeparator(line[position])) {
      position++;
      continue;
    }
    const { argument, end } = readArgument(line, position);
    list.push(argument);
    position = end;
  }
  return list;
}

function readArgument(line: string, start: number): { argument: string; end: number } {
  let argument = '';
  let quoted = false;
  let position = start;
  while (position < line.length && (quoted || !isSeparator(line[position]))) {
    const slashes = countSlashes(line, position);
    position += slashes;
    if (line[position] !== '"') {
      argument += '\\'.repeat(slashes);
      if (slashes === 0) argument += line[position++];
      continue;
    }
    argument += '\\'.repeat(Math.floor(slashes / 2));
    if (slashes % 2 === 1) argument += '"';
    else if (quoted && line[position + 1] === '"') {
      argument += '"';
      position++;
    } else quoted = !quoted;
    position++;
  }
  return { argument, end: position };
}

function countSlashes(line: string, start: number): number {
  let end = start;
  while (line[end] === '\\') end++;
  return end - start;
}

function isSeparator(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

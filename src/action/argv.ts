import { ReceiptsError } from '../contract/index.ts';

/** An argument vector as a JSON array of strings or a YAML list, every scalar taken as it is written. */
export async function parseArgv(text: string): Promise<string[]> {
  const list = fromJson(text) ?? (await import('./yaml-list.ts')).parseYamlList(text);
  if (!Array.isArray(list)) throw invalid('is no list');
  if (list.length === 0) throw invalid('is an empty list');
  const strange = list.findIndex((element) => typeof element !== 'string');
  if (strange >= 0) throw invalid(`has an element that is no string (number ${strange + 1})`);
  if (list[0] === '') throw invalid('begins with an empty element where the program belongs');
  return list as string[];
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalid(what: string): ReceiptsError {
  return new ReceiptsError('ARGV_INVALID', what, {
    next: 'Write a JSON array like ["npm", "test"], or a YAML list with one argument per line: "- npm".',
  });
}

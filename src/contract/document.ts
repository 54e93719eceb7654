import type { Static, TSchema } from 'typebox';
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseDocument as parseYaml,
  visit,
} from 'yaml';
import { type ErrorCode, ReceiptsError } from './errors.ts';
import { fieldErrors, UNKNOWN_MEMBER } from './validate.ts';

/** What a person writes by hand is small; more than this is an attack or a mistake. */
const MOST_CHARACTERS = 1024 * 1024;
const MOST_LEVELS = 32;
const MOST_FAULTS = 10;

interface Fault {
  /** Character offset in the text. */
  readonly offset: number;
  readonly message: string;
}

/**
 * Reads a YAML document that a person wrote, strictly: one document, no duplicate or unknown keys, no anchors, aliases,
 * tags or merge keys, and exactly the schema's form. Throws ReceiptsError with the given code; the message lists the faults,
 * each with its line and column, and `where` is the first one's `file:line:column`.
 */
export function parseDocument<T extends TSchema>(schema: T, text: string, file: string, code: ErrorCode): Static<T> {
  const lines = new LineCounter();
  const refuse = (faults: readonly Fault[]): ReceiptsError => refusal(faults, lines, file, code);
  if (text.length > MOST_CHARACTERS)
    throw refuse([{ offset: 0, message: `larger than ${MOST_CHARACTERS} characters` }]);
  const document = parseStrictly(text, lines, refuse);
  const syntax = syntaxFaults(document);
  if (syntax.length > 0) throw refuse(syntax);
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  const errors = fieldErrors(schema, value);
  if (errors.length > 0)
    throw refuse(
      errors.map(({ pointer, message }) => ({
        offset: offsetOf(document, pointer, message === UNKNOWN_MEMBER),
        message: `${pointer || 'the document'} ${message}`,
      })),
    );
  return value as Static<T>;
}

function parseStrictly(text: string, lines: LineCounter, refuse: (faults: Fault[]) => ReceiptsError): Document {
  try {
    return parseYaml(text, {
      strict: true,
      uniqueKeys: true,
      merge: false,
      version: '1.2',
      prettyErrors: false,
      lineCounter: lines,
    });
  } catch (error) {
    throw refuse([{ offset: 0, message: error instanceof RangeError ? 'nested too deeply' : 'not readable as YAML' }]);
  }
}

function syntaxFaults(document: Document): Fault[] {
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0)
    return problems.map((problem) => ({ offset: problem.pos[0], message: firstLine(problem.message) }));
  const faults: Fault[] = [];
  visit(document, (_key, node, path) => {
    if (isPair(node)) {
      if (!isScalar(node.key) || typeof node.key.value !== 'string')
        faults.push({ offset: startOf(node.key), message: 'a key must be a plain string' });
    } else if (isAlias(node) || (isCollection(node) || isScalar(node) ? node.anchor !== undefined : false)) {
      faults.push({ offset: startOf(node), message: 'anchors and aliases are not read here: write the value out' });
    }
    if (path.length > MOST_LEVELS * 2) {
      faults.push({ offset: startOf(node), message: `nested deeper than ${MOST_LEVELS} levels` });
      return visit.BREAK;
    }
    return undefined;
  });
  return faults;
}

/** Where the member at fault stands: the value, the key of a member that does not belong, or what lacks a member. */
function offsetOf(document: Document, pointer: string, atKey: boolean): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  const segments = pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  for (const segment of segments) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === segment);
      if (pair === undefined) return offset;
      offset = startOf(pair.key);
      node = pair.value;
    } else {
      node = isCollection(node) ? node.get(Number(segment), true) : undefined;
      offset = startOf(node) || offset;
    }
  }
  return atKey ? offset : startOf(node) || offset;
}

function startOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}

function refusal(faults: readonly Fault[], lines: LineCounter, file: string, code: ErrorCode): ReceiptsError {
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const ordered = [...faults].sort((left, right) => left.offset - right.offset);
  const listed = ordered.slice(0, MOST_FAULTS).map((fault) => `${place(fault.offset)} ${fault.message}`);
  if (ordered.length > MOST_FAULTS) listed.push(`and ${ordered.length - MOST_FAULTS} more`);
  return new ReceiptsError(code, listed.join('; '), {
    where: `${file}:${place(ordered[0]?.offset ?? 0)}`,
    next: `Correct ${ordered.length === 1 ? 'this place' : 'these places'} in ${file}.`,
  });
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Every regular file under a directory, as paths. */
export function filesUnder(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/** What a store holds as evidence: entries that begin with a dot are working files (docs/format.md §4.1). */
export function evidenceFiles(store) {
  return filesUnder(store).filter((path) => !relative(store, path).startsWith('.'));
}

/** The events of a store's journals, in order. A torn last line is left out; also read while an executor writes. */
export function journalOf(store) {
  return taskDirectories(store).flatMap((task) => eventsIn(join(task, 'journal.jsonl')));
}

function taskDirectories(store) {
  try {
    return readdirSync(store)
      .filter((name) => !name.startsWith('.'))
      .map((name) => join(store, name));
  } catch {
    return [];
  }
}

function eventsIn(path) {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return [];
  }
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The receipts of a store with the bodies beside them. */
export function receiptsOf(store) {
  return evidenceFiles(store)
    .filter((path) => /\/receipt(\.dsse)?\.json$/.test(path))
    .map((path) => ({ path, receipt: readReceipt(path), body: (stream) => bodyOf(join(path, '..'), stream) }))
    .filter(({ receipt }) => receipt !== undefined);
}

/** The only receipt of a store, or undefined. */
export function receiptOf(store) {
  const [first, ...others] = receiptsOf(store);
  if (others.length > 0) throw new Error(`${store} has ${others.length + 1} receipts, one was expected`);
  return first;
}

/** A signed envelope's payload, or the naive executor's plain document. */
function readReceipt(path) {
  try {
    const document = JSON.parse(readFileSync(path, 'utf8'));
    return document.payload === undefined
      ? document
      : JSON.parse(Buffer.from(document.payload, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Retained bytes of a stream: whole, or head and tail. */
function bodyOf(directory, stream) {
  const read = (name) => (existsSync(join(directory, name)) ? readFileSync(join(directory, name)) : Buffer.alloc(0));
  const head = Buffer.concat([read(`${stream}.txt`), read(`${stream}.head.txt`)]);
  return { head, tail: read(`${stream}.tail.txt`) };
}

export function wholeBody(found, stream) {
  const { head, tail } = found.body(stream);
  return Buffer.concat([head, tail]);
}

import type { Dirent } from 'node:fs';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bodyFile, CHUNKS_FILE, errnoOf, RECEIPT_FILE, type StreamEvidence } from '../contract/index.ts';
import { kindOf } from './evidence-file.ts';
import { type CommandFacts, STREAM_NAMES, type StreamName } from './facts.ts';
import type { Findings } from './findings.ts';

/** What stands in a directory of evidence: names are the writer's choice and are only ever compared. */
export interface EvidenceListing {
  readonly directory: string;
  readonly entries: readonly Dirent[];
}

/** Undefined when the directory cannot be listed; the reason is in `onError`. */
export function listEvidence(directory: string, onError: (message: string) => void): EvidenceListing | undefined {
  try {
    return { directory, entries: readdirSync(directory, { withFileTypes: true }) };
  } catch (error) {
    onError(`cannot be listed (${errnoOf(error) ?? 'unknown reason'})`);
    return undefined;
  }
}

/** One file that holds retained output, with the length that the receipt gives it. */
export interface BodyFile {
  readonly path: string;
  readonly length: number;
}

/** The files of a receipt's directory that are there and are to be read. */
export interface PresentEvidence {
  readonly chunks: string | undefined;
  /** Head before tail; undefined where a part is missing, expired or not to be read. */
  readonly bodies: Readonly<Record<StreamName, readonly BodyFile[] | undefined>>;
}

interface BodyExpectation {
  /** A missing body is no fault any more. */
  readonly expired: boolean;
  /** False: bodies are neither read nor missed. */
  readonly checked: boolean;
}

/** docs/format.md §4: a receipt's directory holds exactly the files that its facts call for, and each is a regular file. */
export function verifyDirectory(
  facts: CommandFacts,
  listing: EvidenceListing,
  expect: BodyExpectation,
  findings: Findings,
): PresentEvidence {
  const lengths = bodyLengths(facts);
  const withChunks = STREAM_NAMES.some((name) => facts.streams?.[name]);
  const there = new Map<string, 'file' | 'refused'>();
  for (const entry of listing.entries) {
    const path = join(listing.directory, entry.name);
    const expected =
      entry.name === RECEIPT_FILE || lengths.has(entry.name) || (withChunks && entry.name === CHUNKS_FILE);
    if (!expected) findings.add('UNEXPECTED_FILE', path, `${kindOf(entry)} that this receipt does not call for`);
    else if (!entry.isFile()) findings.add('UNEXPECTED_FILE', path, `${kindOf(entry)}, not a regular file`);
    there.set(entry.name, entry.isFile() ? 'file' : 'refused');
  }
  const chunks = join(listing.directory, CHUNKS_FILE);
  if (withChunks && !there.has(CHUNKS_FILE)) findings.add('OUTPUT_MISSING', chunks, 'is missing');
  if (withChunks && !expect.checked) findings.note('bodies not checked');
  const bodiesOf = (stream: StreamName): readonly BodyFile[] | undefined => {
    if (!expect.checked) return undefined;
    const wanted = [...lengths].filter(([name]) => name.startsWith(`${stream}.`));
    for (const [name] of wanted)
      if (!there.has(name)) reportAbsence(join(listing.directory, name), expect.expired, findings);
    if (wanted.some(([name]) => there.get(name) !== 'file')) return undefined;
    return wanted.map(([name, length]) => ({ path: join(listing.directory, name), length }));
  };
  return {
    chunks: withChunks && there.get(CHUNKS_FILE) === 'file' ? chunks : undefined,
    bodies: { stdout: bodiesOf('stdout'), stderr: bodiesOf('stderr') },
  };
}

/** docs/format.md §5.2: until the head's `bodiesExpireAt` a body has to be there, from then on it may be gone. */
function reportAbsence(path: string, expired: boolean, findings: Findings): void {
  if (expired) findings.note('body: expired');
  else findings.add('OUTPUT_MISSING', path, 'is missing');
}

/** §4: uncut output in one file, cut output in a head and a tail, and no file for no bytes. */
export function bodyNames(
  stream: StreamName,
  { droppedBytes, retainedBytes, retained }: StreamEvidence,
): Array<readonly [name: string, length: number]> {
  const parts =
    droppedBytes === 0
      ? [[bodyFile(stream, 'whole'), retainedBytes] as const]
      : [
          [bodyFile(stream, 'head'), retained.head.length] as const,
          [bodyFile(stream, 'tail'), retained.tail.length] as const,
        ];
  return parts.filter(([, length]) => length > 0);
}

function bodyLengths(facts: CommandFacts): Map<string, number> {
  return new Map(
    STREAM_NAMES.flatMap((name) => {
      const stream = facts.streams?.[name];
      return stream ? bodyNames(name, stream) : [];
    }),
  );
}

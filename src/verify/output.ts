import { ReceiptsError, type StreamEvidence } from '../contract/index.ts';
import { RetainedBody, wrongLength } from './body.ts';
import { type Prefix, verifyChunks } from './chunks.ts';
import type { BodyFile, PresentEvidence } from './directory.ts';
import { type CommandFacts, STREAM_NAMES, type StreamName } from './facts.ts';
import type { Findings } from './findings.ts';

/** docs/format.md §7: chunks and retained bytes, each read once from front to back. */
export function verifyOutput(facts: CommandFacts, present: PresentEvidence, receipt: string, findings: Findings): void {
  const prefixes = new Map<StreamName, Prefix>();
  try {
    for (const name of STREAM_NAMES) {
      const stream = facts.streams?.[name];
      const files = present.bodies[name];
      if (stream && files && hasRightLength(files, findings)) prefixes.set(name, prefixOf(stream, files));
    }
    if (present.chunks !== undefined) verifyChunksFile(present.chunks, facts, prefixes, findings);
    for (const [name, { body }] of prefixes) {
      const stream = facts.streams?.[name];
      if (stream)
        verifyBody(
          stream,
          body,
          bodyPlaces(present.bodies[name], `${receipt}#/streams/${name}/retained/sha256`),
          findings,
        );
    }
  } finally {
    for (const { body } of prefixes.values()) body.close();
  }
}

/** Of uncut output everything is the stream's beginning, of cut output the head is. */
function prefixOf(stream: StreamEvidence, files: readonly BodyFile[]): Prefix {
  const length = stream.droppedBytes === 0 ? stream.retainedBytes : stream.retained.head.length;
  return { body: new RetainedBody(files), length };
}

function hasRightLength(files: readonly BodyFile[], findings: Findings): boolean {
  return orReport(files[0]?.path ?? '', findings, () => {
    const wrong = wrongLength(files);
    if (wrong === undefined) return true;
    findings.add('OUTPUT_DIGEST', wrong.file.path, `has ${wrong.size} bytes, the receipt says ${wrong.file.length}`);
    return false;
  });
}

function verifyChunksFile(
  path: string,
  facts: CommandFacts,
  prefixes: ReadonlyMap<StreamName, Prefix>,
  findings: Findings,
): void {
  orReport(path, findings, () => {
    verifyChunks(path, facts, prefixes, findings);
    return true;
  });
}

/** The files whose bytes can be at fault; without any, the receipt's digest of no bytes. */
function bodyPlaces(files: readonly BodyFile[] | undefined, receipt: string): readonly string[] {
  return files && files.length > 0 ? files.map((file) => file.path) : [receipt];
}

/** §7.1: `retained.sha256` is over head then tail. */
function verifyBody(stream: StreamEvidence, body: RetainedBody, places: readonly string[], findings: Findings): void {
  orReport(places[0] ?? '', findings, () => {
    body.hashTo(stream.retainedBytes);
    if (body.digest() === stream.retained.sha256) return true;
    for (const place of places)
      findings.add('OUTPUT_DIGEST', place, 'the retained bytes are not those that the receipt digested');
    return false;
  });
}

/** A file that cannot be read proves nothing. */
function orReport(path: string, findings: Findings, act: () => boolean): boolean {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof ReceiptsError)) throw error;
    findings.add('OUTPUT_MISSING', error.where ?? path, error.message);
    return false;
  }
}

import { ReceiptsError, type StreamEvidence } from '../contract/index.ts';
import { RetainedBody } from './body.ts';
import { EMPTY_DIGEST, type Prefix, verifyChunks } from './chunks.ts';
import type { BodyFile, PresentEvidence } from './directory.ts';
import { type CommandFacts, STREAM_NAMES, type StreamName } from './facts.ts';
import type { Findings } from './findings.ts';

/** docs/format.md §7: chunks and retained bytes, each read once from front to back. */
export function verifyOutput(facts: CommandFacts, present: PresentEvidence, path: string, findings: Findings): void {
  const prefixes = new Map<StreamName, Prefix>();
  try {
    for (const name of STREAM_NAMES) {
      const stream = facts.streams?.[name];
      const files = present.bodies[name];
      if (stream && files?.length === 0) verifyNothing(stream, `${path}#/streams/${name}/retained/sha256`, findings);
      const body = stream && files && files.length > 0 ? openBody(files, findings) : undefined;
      if (stream && body) prefixes.set(name, { body, length: prefixLength(stream) });
    }
    const { chunks } = present;
    if (chunks !== undefined) orMissing(chunks, findings, () => verifyChunks(chunks, facts, prefixes, findings));
    for (const [name, { body }] of prefixes) {
      const stream = facts.streams?.[name];
      if (stream) verifyBody(stream, body, present.bodies[name] ?? [], findings);
    }
  } finally {
    for (const { body } of prefixes.values()) body.close();
  }
}

/** Of uncut output everything is the stream's beginning, of cut output the head is. */
function prefixLength(stream: StreamEvidence): number {
  return stream.droppedBytes === 0 ? stream.retainedBytes : stream.retained.head.length;
}

/** Undefined, with the reason in the findings, when a file cannot be read or has not the length that the receipt gives. */
function openBody(files: readonly BodyFile[], findings: Findings): RetainedBody | undefined {
  return orMissing(files[0]?.path ?? '', findings, () => {
    const body = new RetainedBody(files);
    const sizes = body.sizes;
    const wrong = files.findIndex((file, index) => file.length !== sizes[index]);
    const file = files[wrong];
    if (file === undefined) return body;
    body.close();
    findings.add('OUTPUT_DIGEST', file.path, `has ${sizes[wrong]} bytes, the receipt says ${file.length}`);
    return undefined;
  });
}

/** §7.1: `retained.sha256` is over head then tail. */
function verifyBody(stream: StreamEvidence, body: RetainedBody, files: readonly BodyFile[], findings: Findings): void {
  orMissing(files[0]?.path ?? '', findings, () => {
    body.hashTo(stream.retainedBytes);
    if (body.digest() === stream.retained.sha256) return;
    for (const { path } of files) findings.add('OUTPUT_DIGEST', path, 'not the bytes that the receipt digested');
  });
}

/** §7.1, of output without retained bytes. */
function verifyNothing(stream: StreamEvidence, where: string, findings: Findings): void {
  if (stream.retained.sha256 !== EMPTY_DIGEST) findings.add('OUTPUT_DIGEST', where, 'is not the digest of no bytes');
}

/** A file that cannot be read proves nothing. */
function orMissing<T>(path: string, findings: Findings, act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof ReceiptsError)) throw error;
    findings.add('OUTPUT_MISSING', error.where ?? path, error.message);
    return undefined;
  }
}

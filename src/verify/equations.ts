import type { StreamEvidence } from '../contract/index.ts';
import { type CommandFacts, STREAM_NAMES } from './facts.ts';
import type { Findings } from './findings.ts';

type Report = (member: string, message: string) => void;

/** docs/format.md §7.1: the counts of one stream account for every byte. Those over chunks are in chunks.ts. */
export function verifyEquations(facts: CommandFacts, path: string, findings: Findings): void {
  for (const name of STREAM_NAMES) {
    const stream = facts.streams?.[name];
    if (!stream) continue;
    const report: Report = (member, message) =>
      findings.add('BYTE_ACCOUNTING', `${path}#/streams/${name}/${member}`, message);
    verifyCounts(stream, report);
    verifyRanges(stream, report);
    // §7.2, §7.3: of an uncut stream the retained bytes are the whole redacted stream.
    if (stream.droppedBytes === 0 && stream.redactedDigest !== `sha256:${stream.retained.sha256}`)
      findings.add(
        'OUTPUT_DIGEST',
        `${path}#/streams/${name}/redactedDigest`,
        'differs from the digest of the retained bytes, though none were dropped',
      );
  }
}

function verifyCounts(stream: StreamEvidence, report: Report): void {
  const { observedBytes, redactedBytes, retainedBytes, droppedBytes, blockedAt } = stream;
  const { removedBytes, insertedBytes } = stream.redaction;
  if (redactedBytes !== retainedBytes + droppedBytes)
    report('redactedBytes', `${redactedBytes} is not ${retainedBytes} retained and ${droppedBytes} dropped`);
  if (blockedAt !== undefined && blockedAt > observedBytes)
    report('blockedAt', `${blockedAt} is past the ${observedBytes} bytes observed`);
  const accounted = blockedAt ?? observedBytes;
  if (accounted - removedBytes + insertedBytes !== redactedBytes)
    report('redaction', `${accounted} − ${removedBytes} removed + ${insertedBytes} inserted is not ${redactedBytes}`);
}

function verifyRanges(stream: StreamEvidence, report: Report): void {
  const { redactedBytes, retainedBytes, droppedBytes, truncation } = stream;
  const { head, tail } = stream.retained;
  if (head.offset !== 0) report('retained/head', `begins at ${head.offset}, not at 0`);
  if (head.length + tail.length !== retainedBytes)
    report('retainedBytes', `${retainedBytes} is not ${head.length} of the head and ${tail.length} of the tail`);
  const tailOffset = redactedBytes - tail.length;
  if (tail.offset !== tailOffset || tail.offset < head.length)
    report(
      'retained/tail',
      `begins at ${tail.offset}; the stream ends at ${redactedBytes} and the head at ${head.length}`,
    );
  if ((truncation.reason === 'none') !== (droppedBytes === 0))
    report('truncation/reason', `"${truncation.reason}" beside ${droppedBytes} dropped bytes`);
}

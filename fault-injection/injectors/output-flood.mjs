import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { receiptOf } from '../harness/artifact.mjs';
import { checks, runCases } from '../harness/cases.mjs';
import { KINDS, LAST_LINE, outputOf } from '../programs/flood.mjs';

const printer = fileURLToPath(new URL('../programs/flood.mjs', import.meta.url));

/** Far beyond the quota, and just beyond it, where the kept tail has only begun to lose its beginning. */
const sizes = ({ full }) => (full ? [5.4, 16, 256] : [5.4, 16]);

const run = (context) =>
  runCases(
    context,
    KINDS.flatMap((kind) => sizes(context).map((mebibytes) => floodCase(context, kind, mebibytes))),
  );

export const outputFlood = {
  name: 'output-flood',
  expectation: 'observed, retained and dropped bytes exact, the last error line kept, verified',
  run,
};

function floodCase({ subject }, kind, mebibytes) {
  return {
    name: `${kind}, ${mebibytes} MiB`,
    rounds: 1,
    fixed: true,
    attack: (place) => subject.run({ place, argv: [process.execPath, printer, kind, String(mebibytes)] }),
    judge: (facts) =>
      facts.flatMap(({ round, store }) => {
        const check = checks(round);
        const found = receiptOf(store);
        if (!check.that(found, 'there is no receipt')) return check.found;
        for (const stream of ['stdout', 'stderr']) judgeStream(check, found, stream, outputOf(kind, stream, mebibytes));
        check.that(subject.verify([store]).of(store).verified, 'the receipt is not verified');
        return check.found;
      }),
  };
}

function judgeStream(check, found, stream, { block, times, last }) {
  const evidence = found.receipt.streams[stream];
  const total = block.length * times + last.length;
  const { head, tail } = found.body(stream);
  const kept = head.length + tail.length;
  const same = (name, value, expected) =>
    check.that(value === expected, `${stream}: ${name} is ${value}, not ${expected}`);
  same('observedBytes', evidence.observedBytes, total);
  same('retainedBytes', evidence.retainedBytes, kept);
  same('droppedBytes', evidence.droppedBytes, total - kept);
  same('truncation.reason', evidence.truncation.reason, 'quota');
  same('tail.offset', evidence.retained.tail.offset, total - tail.length);
  check.that(kept < total, `${stream}: nothing was cut, so nothing was tried`);
  check.that(head.equals(cut(block, times, last, 0, head.length)), `${stream}: the head is not how the output began`);
  check.that(
    tail.equals(cut(block, times, last, total - tail.length, total)),
    `${stream}: the tail is not how the output ended`,
  );
  check.that(tail.includes(LAST_LINE), `${stream}: the error line at the end was not kept`);
  same('redactedDigest', evidence.redactedDigest, digestOfAll(block, times, last));
}

/** Bytes `from` to `to` of the whole output, without making it whole. */
function cut(block, times, last, from, to) {
  const first = Math.floor(from / block.length);
  const until = Math.min(times, Math.ceil(to / block.length));
  const around = Buffer.concat([
    ...Array.from({ length: Math.max(0, until - first) }, () => block),
    ...(to > block.length * times ? [last] : []),
  ]);
  return around.subarray(from - first * block.length, to - first * block.length);
}

function digestOfAll(block, times, last) {
  const hash = createHash('sha256');
  for (let turn = 0; turn < times; turn++) hash.update(block);
  return `sha256:${hash.update(last).digest('hex')}`;
}

import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CommandReceipt,
  canonicalText,
  chunkGenesis,
  digestOf,
  type StreamEvidence,
} from '../../src/contract/index.ts';
import type { CommandSpec } from './build-receipt.ts';
import { TaskBuilder, temporaryDirectory } from './build-store.ts';
import { problems, verifyTask } from './problems.ts';

const OUTPUT: CommandSpec = {
  stdout: { redacted: Buffer.from('0123456789'.repeat(10)), keep: { head: 30, tail: 20 }, chunkSize: 16 },
  stderr: { redacted: Buffer.from('abcdefghij'), chunkSize: 4 },
};

function task(
  spec: CommandSpec = OUTPUT,
  alter: (streams: Record<'stdout' | 'stderr', StreamEvidence>) => unknown = () => undefined,
): TaskBuilder {
  const built = new TaskBuilder();
  built.run(spec, (receipt: CommandReceipt) => {
    if (receipt.started === 'yes') alter(receipt.streams as Record<'stdout' | 'stderr', StreamEvidence>);
  });
  return built.close();
}

/** Problems with the receipt's directory left out. */
async function found(built: TaskBuilder, options = {}): Promise<string[]> {
  return (await problems(built, options)).map((one) =>
    one.replace(`receipts/${built.receiptIds[0]}/`, '').replace('receipt.dsse.json#/streams', '#'),
  );
}

function withChunks(change: (lines: string[]) => string[]): TaskBuilder {
  const built = task();
  const path = join(built.directoryOf(0), 'chunks.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  writeFileSync(
    path,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
  return built;
}

const edit = (line: string | undefined, changes: Record<string, unknown>): string =>
  canonicalText({ ...JSON.parse(line ?? '{}'), ...changes });

describe('the equations of a stream', () => {
  const cases: Array<readonly [string, (stdout: StreamEvidence) => unknown, string]> = [
    [
      'redacted = retained + dropped',
      (it) => Object.assign(it, { droppedBytes: 51 }),
      'BYTE_ACCOUNTING #/stdout/redactedBytes',
    ],
    [
      'observed − removed + inserted = redacted',
      (it) => Object.assign(it.redaction, { removedBytes: 1 }),
      'BYTE_ACCOUNTING #/stdout/redaction',
    ],
    [
      'the head begins at 0',
      (it) => Object.assign(it.retained.head, { offset: 1 }),
      'BYTE_ACCOUNTING #/stdout/retained/head',
    ],
    [
      'head + tail = retained',
      (it) => Object.assign(it.retained.head, { length: 29 }),
      'BYTE_ACCOUNTING #/stdout/retainedBytes',
    ],
    [
      'the tail ends with the stream',
      (it) => Object.assign(it.retained.tail, { offset: 79 }),
      'BYTE_ACCOUNTING #/stdout/retained/tail',
    ],
    [
      'a cut has a reason',
      (it) => Object.assign(it.truncation, { reason: 'none' }),
      'BYTE_ACCOUNTING #/stdout/truncation/reason',
    ],
    [
      'the chunks are as many as counted',
      (it) => Object.assign(it.chunks, { count: 8 }),
      'BYTE_ACCOUNTING chunks.jsonl',
    ],
    [
      'the chunk chain ends as stated',
      (it) => Object.assign(it.chunks, { chain: 'ab'.repeat(32) }),
      'OUTPUT_DIGEST chunks.jsonl',
    ],
    [
      'the last chunk states the redacted digest',
      (it) => Object.assign(it, { redactedDigest: `sha256:${'ab'.repeat(32)}` }),
      'OUTPUT_DIGEST chunks.jsonl',
    ],
    [
      'the retained digest is over head then tail',
      (it) => Object.assign(it.retained, { sha256: 'ab'.repeat(32) }),
      'OUTPUT_DIGEST stdout.head.txt',
    ],
    [
      'a block lies within what was observed',
      (it) => Object.assign(it, { blockedAt: 101 }),
      'BYTE_ACCOUNTING #/stdout/blockedAt',
    ],
  ];
  it.each(cases)('%s', async (_name, alter, expected) => {
    expect(await found(task(OUTPUT, ({ stdout }) => alter(stdout)))).toContain(expected);
  });

  it('hold up to the offset at which redaction failed; only the flag is then against it', async () => {
    const built = task(OUTPUT, ({ stderr }) => Object.assign(stderr, { observedBytes: 500, blockedAt: 10 }));
    expect(await found(built)).toEqual(['EVIDENCE_BLOCKED #/stderr/blockedAt']);
  });

  it('a cut without a dropped byte is none', async () => {
    expect(await found(task(OUTPUT, ({ stderr }) => Object.assign(stderr.truncation, { reason: 'quota' })))).toEqual([
      'BYTE_ACCOUNTING #/stderr/truncation/reason',
    ]);
  });

  it('uncut output has one digest', async () => {
    const built = task(OUTPUT, ({ stderr }) => Object.assign(stderr.retained, { sha256: 'ab'.repeat(32) }));
    expect(await found(built)).toEqual(['OUTPUT_DIGEST #/stderr/redactedDigest', 'OUTPUT_DIGEST stderr.txt']);
  });

  it('no output has the digest of no bytes', async () => {
    const built = task({}, ({ stdout }) =>
      Object.assign(stdout, {
        retained: { ...stdout.retained, sha256: 'ab'.repeat(32) },
        redactedDigest: `sha256:${'ab'.repeat(32)}`,
      }),
    );
    expect(await found(built)).toEqual(['OUTPUT_DIGEST #/stdout/retained/sha256', 'OUTPUT_DIGEST chunks.jsonl']);
  });
});

describe('chunks.jsonl', () => {
  const cases: Array<readonly [string, (lines: string[]) => string[], string]> = [
    ['a line dropped', (lines) => lines.toSpliced(2, 1), 'BYTE_ACCOUNTING chunks.jsonl:3'],
    ['the last line dropped', (lines) => lines.slice(0, -1), 'BYTE_ACCOUNTING chunks.jsonl'],
    [
      'two lines swapped',
      (lines) => [lines[1] ?? '', lines[0] ?? '', ...lines.slice(2)],
      'BYTE_ACCOUNTING chunks.jsonl:1',
    ],
    ['a line twice', (lines) => lines.toSpliced(1, 0, lines[0] ?? ''), 'BYTE_ACCOUNTING chunks.jsonl:2'],
    [
      'a sequence out of order',
      (lines) => lines.with(0, edit(lines[0], { sequence: 1 })),
      'BYTE_ACCOUNTING chunks.jsonl:1',
    ],
    ['other sizes', (lines) => lines.with(0, edit(lines[0], { observed: 17 })), 'BYTE_ACCOUNTING chunks.jsonl'],
    [
      'other redacted sizes',
      (lines) => lines.with(6, edit(lines[6], { redacted: 17 })),
      'BYTE_ACCOUNTING chunks.jsonl',
    ],
    [
      'another digest within the head',
      (lines) => lines.with(0, edit(lines[0], { redactedDigest: `sha256:${'0'.repeat(64)}` })),
      'OUTPUT_DIGEST chunks.jsonl:1',
    ],
    [
      'another digest within the cut',
      (lines) => lines.with(7, edit(lines[7], { redactedDigest: `sha256:${'0'.repeat(64)}` })),
      'OUTPUT_DIGEST chunks.jsonl',
    ],
    [
      'no redacted bytes and another digest',
      (lines) => lines.with(7, edit(lines[7], { redacted: 0, redactedDigest: `sha256:${'0'.repeat(64)}` })),
      'OUTPUT_DIGEST chunks.jsonl:8',
    ],
    ['another member', (lines) => lines.with(0, edit(lines[0], { more: 1 })), 'MALFORMED chunks.jsonl:1'],
    ['a third stream', (lines) => lines.with(0, edit(lines[0], { stream: 'stdlog' })), 'MALFORMED chunks.jsonl:1'],
    [
      'a number past 2^53',
      (lines) => lines.with(0, (lines[0] ?? '').replace('"observed":16', '"observed":9007199254740993')),
      'MALFORMED chunks.jsonl:1',
    ],
    ['white space', (lines) => lines.with(0, ` ${lines[0]}`), 'MALFORMED chunks.jsonl:1'],
    ['an empty line', (lines) => ['', ...lines], 'MALFORMED chunks.jsonl:1'],
    ['a line over 4 KiB', (lines) => ['x'.repeat(4097), ...lines], 'MALFORMED chunks.jsonl:1'],
    ['no lines', () => [], 'BYTE_ACCOUNTING chunks.jsonl'],
  ];
  it.each(cases)('with %s', async (_name, change, expected) => {
    expect(await found(withChunks(change))).toContain(expected);
  });

  it('has lines only of streams that the receipt has', async () => {
    const built = new TaskBuilder();
    built.run(OUTPUT, (receipt) => receipt.started === 'yes' && Object.assign(receipt.streams, { stderr: null }));
    rmSync(join(built.directoryOf(0), 'stderr.txt'));
    expect(await found(built.close())).toContain('BYTE_ACCOUNTING chunks.jsonl:2');
  });

  it('is read in bounded memory, however many the lines', async () => {
    const count = 300_000;
    const path = join(temporaryDirectory(), 'chunks.jsonl');
    const built = new TaskBuilder();
    built.run({}, (receipt) => {
      if (receipt.started !== 'yes' || receipt.streams.stdout === null) return;
      const chain = writeEmptyChunks(path, receipt.receiptId, count);
      Object.assign(receipt.streams.stdout, { observedBytes: count, chunks: { count, chain } });
      receipt.streams.stdout.redaction.removedBytes = count;
    });
    renameSync(path, join(built.directoryOf(0), 'chunks.jsonl'));
    const before = process.memoryUsage().rss;
    expect(await found(built.close())).toEqual([]);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });
});

/** Chunks of one removed byte each; the chain they end in. */
function writeEmptyChunks(path: string, receiptId: string, count: number): string {
  const redactedDigest = digestOf('');
  const fd = openSync(path, 'w');
  let link = chunkGenesis(receiptId, 'stdout');
  let lines = '';
  for (let index = 0; index < count; index++) {
    const line = `{"index":${index},"observed":1,"redacted":0,"redactedDigest":"${redactedDigest}","sequence":${index},"stream":"stdout"}`;
    link = createHash('sha256').update(link).update(line).digest();
    lines += `${line}\n`;
    if (index % 1000 === 999) {
      writeSync(fd, lines);
      lines = '';
    }
  }
  closeSync(fd);
  return link.toString('hex');
}

describe('the files of a receipt', () => {
  const cases: Array<readonly [string, (directory: string) => unknown, string[]]> = [
    [
      'a head cut short',
      (directory) => writeFileSync(join(directory, 'stdout.head.txt'), '0123'),
      ['OUTPUT_DIGEST stdout.head.txt'],
    ],
    [
      'a tail with more',
      (directory) => writeFileSync(join(directory, 'stdout.tail.txt'), 'x'.repeat(21)),
      ['OUTPUT_DIGEST stdout.tail.txt'],
    ],
    [
      'a tail of other bytes',
      (directory) => writeFileSync(join(directory, 'stdout.tail.txt'), 'x'.repeat(20)),
      ['OUTPUT_DIGEST stdout.head.txt', 'OUTPUT_DIGEST stdout.tail.txt'],
    ],
    ['no head', (directory) => rmSync(join(directory, 'stdout.head.txt')), ['OUTPUT_MISSING stdout.head.txt']],
    ['no chunks', (directory) => rmSync(join(directory, 'chunks.jsonl')), ['OUTPUT_MISSING chunks.jsonl']],
    [
      'an uncut body beside the cut one',
      (directory) => writeFileSync(join(directory, 'stdout.txt'), ''),
      ['UNEXPECTED_FILE stdout.txt'],
    ],
    [
      'an empty tail of an uncut body',
      (directory) => writeFileSync(join(directory, 'stderr.tail.txt'), ''),
      ['UNEXPECTED_FILE stderr.tail.txt'],
    ],
    [
      'a file of another name',
      (directory) => writeFileSync(join(directory, '.hidden'), ''),
      ['UNEXPECTED_FILE .hidden'],
    ],
  ];
  it.each(cases)('with %s', async (_name, change, expected) => {
    const built = task();
    change(built.directoryOf(0));
    expect(await found(built)).toEqual(expected);
  });

  it('are none but the receipt where nothing was started', async () => {
    const built = task({ kind: 'refused' });
    writeFileSync(join(built.directoryOf(0), 'chunks.jsonl'), '');
    expect(await found(built)).toEqual(['UNEXPECTED_FILE chunks.jsonl']);
  });

  it('are not read with bodies: false, and that is said', async () => {
    const built = task();
    for (const name of ['stdout.head.txt', 'stdout.tail.txt', 'stderr.txt']) rmSync(join(built.directoryOf(0), name));
    const verification = await verifyTask(built, { bodies: false });
    expect(verification.exitCode).toBe(0);
    expect(verification.chains[0]?.receipts[0]?.notes).toEqual(['bodies not checked']);
    writeFileSync(join(built.directoryOf(0), 'stray'), '');
    expect(await found(built, { bodies: false })).toEqual(['UNEXPECTED_FILE stray']);
  });
});

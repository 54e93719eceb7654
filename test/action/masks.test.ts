import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ChunkIndex, Masks, StreamCapture, type StreamName } from '../../src/capture/index.ts';
import { createRedactor } from '../../src/redact/index.ts';
import { readAsRunner } from './runner-log.ts';

interface Captured {
  /** What the runner reads from our stdout. */
  readonly shown: string;
  /** What is stored. */
  readonly body: string;
  readonly masksAddedAt: readonly number[];
  readonly skipped: readonly string[];
}

/** Sends the parts through the whole path of one command's output, as the executor sets it up. */
function capture(parts: ReadonlyArray<Buffer | readonly [StreamName, Buffer]>): Captured {
  const redactor = createRedactor();
  const shown: Buffer[] = [];
  const write = (bytes: Uint8Array): boolean => {
    shown.push(Buffer.from(bytes));
    return true;
  };
  const masks = new Masks({
    write: { stdout: write, stderr: () => true },
    register: (value) => redactor.addLiterals([{ name: 'add-mask', value }]),
  });
  const index = new ChunkIndex();
  const captureOf = (stream: StreamName): StreamCapture =>
    new StreamCapture({
      receiptId: '01890a5d-ac96-774b-bcce-b302099a8057',
      stream,
      hmacKey: createSecretKey(Buffer.alloc(32, 1)),
      hmacKeyId: 'test',
      redactor: redactor.stream(),
      quota: { head: 1 << 20, tail: 1 << 20 },
      quotaReason: 'quota',
      index,
      log: { append: () => {} },
      show: (bytes) => masks.show(stream, bytes),
      onBlocked: (error) => expect.unreachable(String(error)),
    });
  const gates = masks.before({ stdout: captureOf('stdout'), stderr: captureOf('stderr') });
  for (const part of parts) {
    const [stream, bytes] = Buffer.isBuffer(part) ? (['stdout', part] as const) : part;
    gates[stream].push(bytes);
  }
  const { evidence, head } = gates.stdout.finish('eof');
  gates.stderr.finish('eof');
  const { removedBytes, insertedBytes } = evidence.redaction;
  expect(evidence.observedBytes - removedBytes + insertedBytes).toBe(evidence.redactedBytes);
  return {
    shown: Buffer.concat(shown).toString('utf8'),
    body: head.toString('utf8'),
    masksAddedAt: evidence.masksAddedAt ?? [],
    skipped: redactor.skippedLiterals,
  };
}

function splits(text: string): Buffer[][] {
  const bytes = Buffer.from(text, 'utf8');
  const cuts = Array.from({ length: bytes.length }, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  return [...cuts, Array.from(bytes, (byte) => Buffer.from([byte]))];
}

interface Case {
  readonly name: string;
  readonly raw: string;
  readonly masks: readonly string[];
  readonly body: string;
}

const R = '[REDACTED:literal]';
const TOKEN = 'pause-0f3c';

const CASES: readonly Case[] = [
  {
    name: 'a mask, and its value later',
    raw: 'a\n::add-mask::hunter22\nx hunter22 y\n',
    masks: ['hunter22'],
    body: `a\nx ${R} y\n`,
  },
  { name: 'a value shown before', raw: 'hunter22\n::add-mask::hunter22\n', masks: ['hunter22'], body: 'hunter22\n' },
  { name: 'a value too short to be looked for', raw: '::add-mask::abc\nok\n', masks: ['abc'], body: 'ok\n' },
  { name: 'the first line', raw: '::add-mask::hunter22\nhunter22', masks: ['hunter22'], body: R },
  { name: 'no line end', raw: 'a\n::add-mask::hunter22', masks: ['hunter22'], body: 'a\n' },
  {
    name: 'escaped line ends and percent',
    raw: '::add-mask::one%250A%0Atwo-lines%0D%0Aend-line\n',
    masks: ['one%0A\ntwo-lines\r\nend-line', 'one%0A', 'two-lines', 'end-line'],
    body: '',
  },
  { name: 'CRLF', raw: 'a\r\n::add-mask::hunter22\r\nb\r\n', masks: ['hunter22'], body: 'a\r\nb\r\n' },
  { name: 'after a lone CR', raw: 'progress\r::add-mask::hunter22\nb\n', masks: ['hunter22'], body: 'progress\rb\n' },
  { name: 'white space before it', raw: 'a\n \t::add-mask::hunter22\nb\n', masks: ['hunter22'], body: 'a\nb\n' },
  { name: 'another case and properties', raw: '::Add-Mask x=1::hunter22\nb\n', masks: ['hunter22'], body: 'b\n' },
  { name: 'a value with colons', raw: '::add-mask::a::b::c-d\n', masks: ['a::b::c-d'], body: '' },
  { name: 'the older form', raw: '##[add-mask]hunter22%5D\nb\n', masks: ['hunter22]'], body: '\nb\n' },
  { name: 'the older form behind text', raw: 'see ##[add-mask]hunter22\nb\n', masks: ['hunter22'], body: 'see \nb\n' },
  {
    name: 'not at the start of a line',
    raw: 'x ::add-mask::plain-text\n',
    masks: [],
    body: 'x ::add-mask::plain-text\n',
  },
  {
    name: 'other commands',
    raw: '::group::a\n::error::b\n::add-matcher::c\n',
    masks: [],
    body: '::group::a\n::error::b\n::add-matcher::c\n',
  },
  {
    name: 'a command that quotes the older form',
    raw: '::debug::##[add-mask]plain-text\n',
    masks: [],
    body: '::debug::##[add-mask]plain-text\n',
  },
  {
    name: 'the older form behind no command',
    raw: 'std::x ##[add-mask]hunter22\n',
    masks: ['hunter22'],
    body: 'std::x \n',
  },
  { name: 'a beginning at the end', raw: 'a\n::add-ma', masks: [], body: 'a\n::add-ma' },
  { name: 'no second separator', raw: '::add-mask hunter22\nb\n', masks: [], body: '::add-mask hunter22\nb\n' },
  { name: 'an empty value', raw: '::add-mask:: \nb\n', masks: [], body: '::add-mask:: \nb\n' },
  {
    name: 'text before it that the redactor holds back',
    raw: 'x ghp_0123456789abcdefghij\n::add-mask::hunter22\nb\n',
    masks: ['hunter22'],
    body: 'x ghp_0123456789abcdefghij\nb\n',
  },
  {
    name: 'a stopped section',
    raw: `::stop-commands::${TOKEN}\n::add-mask::plain-text\nplain-text\n::${TOKEN}::\n::add-mask::hunter22\nhunter22\n`,
    masks: ['hunter22'],
    body: `::stop-commands::${TOKEN}\n::add-mask::plain-text\nplain-text\n::${TOKEN}::\n${R}\n`,
  },
  {
    name: 'a mask right before a section that never ends',
    raw: `::add-mask::hunter22\n::stop-commands::${TOKEN}\n::add-mask::plain-text\nhunter22`,
    masks: ['hunter22'],
    body: `::stop-commands::${TOKEN}\n::add-mask::plain-text\n${R}`,
  },
  {
    name: 'a token that the runner refuses',
    raw: '::stop-commands::warning\n::add-mask::hunter22\n',
    masks: ['hunter22'],
    body: '::stop-commands::warning\n',
  },
  {
    name: 'a resume token in the older form',
    raw: `::stop-commands::${TOKEN}\n##[${TOKEN.toUpperCase()}]\n::add-mask::hunter22\n`,
    masks: ['hunter22'],
    body: `::stop-commands::${TOKEN}\n##[${TOKEN.toUpperCase()}]\n`,
  },
];

describe.each(CASES)('$name', ({ raw, masks, body }) => {
  test('whole, at every split and byte by byte', () => {
    for (const parts of [[Buffer.from(raw)], ...splits(raw)]) {
      const captured = capture(parts);
      expect(captured.body).toBe(body);
      expect([...readAsRunner(captured.shown).masks]).toEqual(masks);
    }
  });

  test('the runner would have masked the same without us', () => {
    expect([...readAsRunner(raw).masks]).toEqual(masks);
  });
});

test('a mask on one stream holds on the other, and both state where', () => {
  const captured = capture([
    Buffer.from('before\n'),
    ['stderr', Buffer.from('::add-mask::hunter22\n')],
    Buffer.from('hunter22\n'),
  ]);
  expect(captured.body).toBe(`before\n${R}\n`);
  expect(captured.masksAddedAt).toEqual([7]);
});

test('a mask that is too short to be looked for is named', () => {
  expect(capture([Buffer.from('::add-mask::abc\n')]).skipped).toEqual(['add-mask']);
});

test('a value longer than is read: nothing of it comes out', () => {
  const secret = 'S3cret-'.repeat(40_000);
  const captured = capture([Buffer.from(`a\n::add-mask::${secret}\nb\n`)]);
  expect(captured.body).not.toContain('S3cret-');
});

test('whatever the output and however it is cut, the runner masks what it would have masked', () => {
  const fragment = fc.constantFrom(
    ...[
      '::',
      '##[',
      ']',
      'add-mask',
      'stop-commands',
      '::add-mask::',
      '::stop-commands::',
      `::${TOKEN}::`,
      TOKEN,
      '\n',
      '\r\n',
      '\r',
    ],
    ...[' ', ':', '#', 'text', 'hunter22', 'S3cretValue', '%0A', '::error::', '::warning file=a::', '##[add-mask]'],
  );
  const output = fc.array(fragment, { maxLength: 24 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(output, fc.array(fc.nat(200), { maxLength: 6 }), (raw, cuts) => {
      const bytes = Buffer.from(raw);
      const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      const captured = capture(at.slice(1).map((end, index) => bytes.subarray(at[index], end)));
      expect([...readAsRunner(captured.shown).masks].sort()).toEqual([...readAsRunner(raw).masks].sort());
      expect(captured.body).toBe(capture([bytes]).body);
    }),
    { numRuns: 2000 },
  );
});

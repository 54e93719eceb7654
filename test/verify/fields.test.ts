import { sign } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CommandReceipt,
  decodeEnvelope,
  encodeEnvelope,
  PAYLOAD_TYPES,
  preAuthenticationEncoding,
} from '../../src/contract/index.ts';
import { pointerTo } from '../../src/contract/validate.ts';
import { type Problem, verifyPaths } from '../../src/verify/index.ts';
import { buildWholeTask, idOf, KEY, sealEnvelope, TaskBuilder, TRUST, temporaryDirectory } from './build-store.ts';
import { problemsOf } from './problems.ts';

type Value = Record<string, unknown>;
const file = join(temporaryDirectory(), 'receipt.json');

/** Problems of one signed payload as a lone file, but for its being alone. */
async function judge(payload: unknown): Promise<Problem[]> {
  writeFileSync(file, sealEnvelope(PAYLOAD_TYPES.receipt, payload, KEY).envelope);
  return problemsOf(await verifyPaths([file], { trust: TRUST })).filter(({ code }) => code !== 'CHAIN_NOT_ASSESSED');
}

/** A payload whose bytes are chosen freely, signed as they are. */
async function judgeBytes(text: string): Promise<Problem[]> {
  const payload = Buffer.from(text);
  const signature = sign(null, preAuthenticationEncoding(PAYLOAD_TYPES.receipt, payload), KEY.privateKey);
  writeFileSync(file, encodeEnvelope({ payloadType: PAYLOAD_TYPES.receipt, payload, keyId: KEY.keyId, signature }));
  return problemsOf(await verifyPaths([file], { trust: TRUST })).filter(({ code }) => code !== 'CHAIN_NOT_ASSESSED');
}

const kinds = ['exited', 'signaled', 'timed-out', 'refused', 'start-failed', 'lost'] as const;
const drafts = new TaskBuilder();
const draftOf = (kind: (typeof kinds)[number]): CommandReceipt => drafts.draft(idOf(1), { kind });

/** The pointers of everything within a value. */
function pointersIn(value: unknown, base = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    pointerTo(base, name),
    ...pointersIn(member, pointerTo(base, name)),
  ]);
}

function holder(root: unknown, pointer: string): [object: Value, name: string] {
  const names = pointer.split('/').slice(1);
  const name = names.pop() ?? '';
  return [names.reduce<unknown>((value, step) => (value as Value)[step], root) as Value, name];
}

const OPTIONAL = ['/task/step', '/termination/errno', '/termination/timeout/killSentNs', '/evidence/recoveredBy'];

describe.each(kinds)('a receipt of kind %s', (kind) => {
  const pointers = pointersIn(draftOf(kind));

  it('is judged whole only with every member that its kind has', async () => {
    const missed: string[] = [];
    for (const pointer of pointers.filter((each) => !OPTIONAL.includes(each))) {
      const draft = draftOf(kind);
      const [object, name] = holder(draft, pointer);
      if (Array.isArray(object)) continue;
      delete object[name];
      const found = await judge(draft);
      if (
        !found.some(({ code, where }) => code === 'MALFORMED' && where.startsWith(`${file}#${pointer}`)) &&
        pointer !== '/schema'
      )
        missed.push(`${pointer}: ${found.map((one) => one.where)}`);
    }
    expect(missed).toEqual([]);
  });

  it('refuses every member of another type, at its own pointer', async () => {
    const missed: string[] = [];
    for (const pointer of pointers) {
      const draft = draftOf(kind);
      const [object, name] = holder(draft, pointer);
      object[name] = typeof object[name] === 'boolean' ? 'yes' : true;
      const found = await judge(draft);
      const fits = found.length === 1 && found[0]?.code === 'MALFORMED' && found[0]?.where === `${file}#${pointer}`;
      if (!fits) missed.push(`${pointer}: ${found.map((one) => `${one.code} ${one.where}`)}`);
    }
    expect(missed).toEqual([]);
  });

  it('refuses a member that the format does not have, in every object', async () => {
    const missed: string[] = [];
    for (const pointer of ['', ...pointers]) {
      const draft = draftOf(kind);
      const object = pointer === '' ? draft : (holder(draft, pointer)[0] as Value)[holder(draft, pointer)[1]];
      if (typeof object !== 'object' || object === null || Array.isArray(object)) continue;
      (object as Value)['a/b'] = 1;
      const found = await judge(draft);
      if (
        found.length !== 1 ||
        found[0]?.where !== `${file}#${pointer}/a~1b` ||
        found[0].message !== 'is not a member of this format'
      )
        missed.push(pointer);
    }
    expect(missed).toEqual([]);
  });
});

describe('a null', () => {
  it('is FIELD_MISSING wherever the kind of termination does not call for it', async () => {
    const nullable = [
      '/cwd/resolved',
      '/cwd/inode',
      '/executable/path',
      '/executable/sha256',
      '/executable/binding/filesystem',
      '/process/rusage',
      '/time/bootId',
      '/sandbox/observed/seccomp',
      '/executor/distDigest',
      '/streams/stdout',
      '/time/endedAt',
    ];
    for (const pointer of nullable) {
      const draft = draftOf('exited');
      const [object, name] = holder(draft, pointer);
      object[name] = null;
      expect((await judge(draft)).map(({ code, where }) => `${code} ${where}`)).toEqual([
        `FIELD_MISSING ${file}#${pointer}`,
      ]);
    }
  });

  it('says which gap explains it, once', async () => {
    const draft = draftOf('exited') as Extract<CommandReceipt, { started: 'yes' }>;
    draft.process.rusage = null;
    draft.evidence.gaps.push({ field: '/process/rusage', reason: 'not-observed' });
    expect(await judge(draft)).toMatchObject([{ code: 'FIELD_MISSING', message: 'is unknown: not-observed' }]);
  });

  it('of both exit code and signal leaves a timeout without an end', async () => {
    const draft = draftOf('timed-out');
    Object.assign(draft.termination, { signal: null });
    expect((await judge(draft)).map(({ where }) => where)).toEqual([
      `${file}#/termination/exitCode`,
      `${file}#/termination/signal`,
    ]);
  });

  it.each(['dist-digest-unknown', 'platform-unbound', 'cwd-unbound', 'context-unknown', 'store-failed'] as const)(
    'is not needed for the gap %s to bar',
    async (reason) => {
      const draft = draftOf('exited');
      draft.evidence.gaps.push({ field: '/context', reason });
      expect(await judge(draft)).toHaveLength(1);
    },
  );

  it.each([
    'dynamic-loader-unbound',
    'first-exec',
    'landlock-not-readable',
    'literal-skipped',
    'unverifiable-later',
  ] as const)('is not: the standing gap %s bars nothing', async (reason) => {
    const draft = draftOf('exited');
    draft.evidence.gaps.push({ field: '/executable', reason });
    expect(await judge(draft)).toEqual([]);
  });
});

describe('what members have to agree on', () => {
  const cases: Array<readonly [string, (typeof kinds)[number], string, unknown, string]> = [
    ['an end before the start', 'exited', '/time/monotonicEndNs', '999', '/time/monotonicEndNs'],
    ['a date that does not exist', 'exited', '/time/endedAt', '2026-13-01T00:00:00.000Z', '/time/endedAt'],
    [
      'a term before the start',
      'timed-out',
      '/termination/timeout/termSentNs',
      '999',
      '/termination/timeout/termSentNs',
    ],
    ['a term after the end', 'timed-out', '/termination/timeout/termSentNs', '9001', '/termination/timeout/termSentNs'],
    [
      'a kill before the term',
      'timed-out',
      '/termination/timeout/killSentNs',
      '1999',
      '/termination/timeout/killSentNs',
    ],
    ['an exit code beside a signal', 'timed-out', '/termination/exitCode', 1, '/termination/signal'],
    [
      'a recovered end that is known',
      'exited',
      '/evidence/recoveredBy',
      { keyId: KEY.keyId, recoveredAt: '2026-01-02T04:00:00.000Z', journal: 'authenticated' },
      '/termination/kind',
    ],
    [
      'a stage that does not go with started',
      'lost',
      '/termination/missingStage',
      'TERMINATED',
      '/termination/missingStage',
    ],
  ];
  it.each(cases)('%s is MALFORMED', async (_name, kind, pointer, value, where) => {
    const draft = draftOf(kind);
    const [object, name] = holder(draft, pointer);
    object[name] = value;
    const found = await judge(draft);
    expect(found.map((one) => `${one.code} ${one.where}`)).toContain(`MALFORMED ${file}#${where}`);
  });

  it.each([
    ['/executable/binding/method', 'none', 'UNBOUND_EXECUTABLE'],
    ['/cwd/method', 'path', 'UNBOUND_CWD'],
    ['/redaction/status', 'blocked', 'EVIDENCE_BLOCKED'],
    ['/script', { mode: 'unbound' }, 'UNBOUND_EXECUTABLE'],
  ])('%s %s counts without its flag', async (pointer, value, code) => {
    const draft = draftOf('exited');
    const [object, name] = holder(draft, pointer);
    object[name] = value;
    expect((await judge(draft)).map((one) => one.code)).toEqual([code]);
  });

  it('KEY_EXPOSED_AT_START and UNKILLABLE are notes, and so is a key that the command can reach', async () => {
    const draft = draftOf('exited');
    draft.evidence.flags.push('KEY_EXPOSED_AT_START', 'UNKILLABLE');
    draft.executor.custody = 'reachable-by-command';
    expect(await judge(draft)).toEqual([]);
    const { receipts } = await verifyPaths([file], { trust: TRUST, trustLabel: 'local key' });
    expect(receipts[0]?.notes).toEqual([
      'signer: local key, reachable by the commands it signs for',
      'output not checked: its files do not lie beside the receipt',
      'the signing key could be read by other processes when the executor started',
      'a process of the command could not be ended',
    ]);
  });
});

describe('bytes that are not the canonical form', () => {
  const text = decodeEnvelope(readFileSync(buildWholeTask().receipt(0)), '').payload.toString();
  it.each([
    ['a duplicate member', text.replace('"argv":', '"argv":["x"],"argv":')],
    ['white space', text.replace('"argv":', '"argv": ')],
    ['members in another order', text.replace(/^\{("argv":\[[^\]]*\]),(.*)\}$/, '{$2,$1}')],
    ['another spelling of a string', text.replace('"exited"', '"\\u0065xited"')],
    ['another spelling of a number', text.replace('"pid":4711', '"pid":4711.0')],
    ['a number past 2^53', text.replace('"pid":4711', '"pid":9007199254740993')],
    ['a lone surrogate', text.replace('"argv":["', '"argv":["\\ud800')],
    ['a byte-order mark', `\ufeff${text}`],
    ['a final newline', `${text}\n`],
    ['no JSON at all', 'hello'],
    ['nothing', ''],
    ['deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['deep nesting within', text.replace('"argv":[', `"argv":[${'['.repeat(70)}${']'.repeat(70)},`)],
  ])('%s is MALFORMED', async (_name, altered) => {
    expect(altered).not.toBe(text);
    expect((await judgeBytes(altered)).map(({ code }) => code)).toEqual(['MALFORMED']);
  });
});

rmSync(file, { force: true });

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CommandReceipt,
  digestOf,
  PAYLOAD_TYPES,
  VERDICT_CODES,
  type VerdictCode,
} from '../../src/contract/index.ts';
import { verifyPaths } from '../../src/verify/index.ts';
import { buildWholeTask, KEY, STRANGER, sealEnvelope, TaskBuilder, TRUST, trustIn } from './build-store.ts';
import { listOf, problems } from './problems.ts';

type Started = Extract<CommandReceipt, { started: 'yes' }>;

/** A closed task of one command whose receipt was altered before it was signed. */
function altered(alter: (receipt: Started) => unknown): TaskBuilder {
  const task = new TaskBuilder();
  task.run({ stdout: { redacted: Buffer.from('hello') } }, (receipt) => alter(receipt as Started));
  return task.close();
}

const flagged = (flag: CommandReceipt['evidence']['flags'][number]) =>
  altered((receipt) => receipt.evidence.flags.push(flag));

function unsealed(...events: Array<'REQUESTED' | 'BOUND' | 'STARTED'>): TaskBuilder {
  const task = new TaskBuilder();
  task.run();
  const receiptId = task.nextId();
  for (const event of events) task.record(event, {}, receiptId);
  return task.close();
}

function forked(): TaskBuilder {
  const task = new TaskBuilder();
  task.run();
  task.run({}, (receipt) => Object.assign(receipt.chain, { sequence: 1 }));
  return task.close({ count: 1 });
}

function withSigner(): TaskBuilder {
  const task = new TaskBuilder({ key: STRANGER });
  task.run();
  return task.close();
}

const receipt = (number = 0) =>
  `receipts/${new TaskBuilder().nextId().replace(/.$/, (number + 1).toString(16))}/receipt.dsse.json`;
const changed = (task: TaskBuilder, change: (task: TaskBuilder) => unknown): TaskBuilder => {
  change(task);
  return task;
};

/** For each code the store that shows it, and every problem that this store has. */
const CASES: Partial<Record<VerdictCode, readonly [build: () => TaskBuilder, expected: readonly string[]]>> = {
  NEVER_STARTED: [() => unsealed('REQUESTED'), ['NEVER_STARTED journal.jsonl:7']],
  MISSING_TERMINATED: [() => unsealed('REQUESTED', 'BOUND', 'STARTED'), ['MISSING_TERMINATED journal.jsonl:7']],
  UNKNOWN_TERMINATION: [
    () =>
      altered((it) =>
        Object.assign(it, {
          termination: { kind: 'unknown', exitCode: null, signal: null, missingStage: 'TERMINATED' },
        }),
      ),
    [`UNKNOWN_TERMINATION ${receipt()}#/termination/kind`, `MISSING_TERMINATED ${receipt()}#/termination/missingStage`],
  ],
  FIELD_MISSING: [
    () => altered((it) => Object.assign(it.process, { rusage: null })),
    [`FIELD_MISSING ${receipt()}#/process/rusage`],
  ],
  SCHEMA_UNSUPPORTED: [
    () => altered((it) => Object.assign(it, { schema: 'command-receipt.v9' })),
    [`SCHEMA_UNSUPPORTED ${receipt()}#/schema`],
  ],
  MALFORMED: [() => altered((it) => Object.assign(it.cwd, { inode: 7 })), [`MALFORMED ${receipt()}#/cwd/inode`]],
  INVALID_SIGNATURE: [
    () => altered((it) => Object.assign(it.executor, { keyId: STRANGER.keyId })),
    [`INVALID_SIGNATURE ${receipt()}#/executor/keyId`],
  ],
  UNTRUSTED_SIGNER: [withSigner, ['UNTRUSTED_SIGNER head.dsse.json', `UNTRUSTED_SIGNER ${receipt()}`]],
  KEY_NOT_VALID_AT_TIME: [
    () => altered((it) => Object.assign(it.time, { endedAt: '2031-01-01T00:00:00.000Z' })),
    [`KEY_NOT_VALID_AT_TIME ${receipt()}`],
  ],
  MIXED_SIGNERS: [
    () => {
      const task = new TaskBuilder();
      task.run();
      task.run({}, (it) => Object.assign(it.executor, { keyId: STRANGER.keyId }), STRANGER);
      return task.close();
    },
    [`MIXED_SIGNERS ${receipt(5)}#/executor/keyId`],
  ],
  CHAIN_BROKEN: [
    () => altered((it) => Object.assign(it.chain, { previousReceiptDigest: digestOf('another') })),
    [`CHAIN_BROKEN ${receipt()}#/chain/previousReceiptDigest`],
  ],
  CHAIN_GAP: [
    () => changed(buildWholeTask(), (task) => rmSync(task.directoryOf(5), { recursive: true })),
    ['CHAIN_GAP head.dsse.json#/count', 'CHAIN_GAP journal.jsonl:27'],
  ],
  CHAIN_FORK: [
    forked,
    [
      `CHAIN_FORK ${receipt(0)}#/chain/sequence`,
      `CHAIN_FORK ${receipt(5)}#/chain/sequence`,
      `CHAIN_BROKEN ${receipt(5)}#/chain/previousReceiptDigest`,
    ],
  ],
  CHAIN_OPEN: [
    () => {
      const task = new TaskBuilder();
      task.run();
      return task.writeHead();
    },
    ['CHAIN_OPEN head.dsse.json#/state'],
  ],
  CHAIN_EMPTY: [() => new TaskBuilder().close(), ['CHAIN_EMPTY ']],
  HEAD_MISSING: [() => changed(buildWholeTask(), (task) => rmSync(task.head)), ['HEAD_MISSING head.dsse.json']],
  JOURNAL_BROKEN: [() => changed(buildWholeTask(), (task) => rmSync(task.journal)), ['JOURNAL_BROKEN journal.jsonl']],
  UNEXPECTED_FILE: [
    () => changed(buildWholeTask(), (task) => writeFileSync(join(task.directory, 'note'), '')),
    ['UNEXPECTED_FILE note'],
  ],
  BYTE_ACCOUNTING: [
    () => altered((it) => Object.assign(it.streams.stdout ?? {}, { observedBytes: 6 })),
    [
      `BYTE_ACCOUNTING ${receipt()}#/streams/stdout/redaction`,
      `BYTE_ACCOUNTING ${receipt().replace('receipt.dsse.json', 'chunks.jsonl')}`,
    ],
  ],
  OUTPUT_DIGEST: [
    () =>
      changed(
        altered(() => undefined),
        (task) => writeFileSync(join(task.directoryOf(0), 'stdout.txt'), 'jello'),
      ),
    [
      `OUTPUT_DIGEST ${receipt().replace('receipt.dsse.json', 'chunks.jsonl')}:1`,
      `OUTPUT_DIGEST ${receipt().replace('receipt.dsse.json', 'stdout.txt')}`,
    ],
  ],
  OUTPUT_MISSING: [
    () =>
      changed(
        altered(() => undefined),
        (task) => rmSync(join(task.directoryOf(0), 'stdout.txt')),
      ),
    [`OUTPUT_MISSING ${receipt().replace('receipt.dsse.json', 'stdout.txt')}`],
  ],
  EVIDENCE_BLOCKED: [() => flagged('EVIDENCE_BLOCKED'), [`EVIDENCE_BLOCKED ${receipt()}#/evidence/flags`]],
  UNBOUND_EXECUTABLE: [() => flagged('UNBOUND_EXECUTABLE'), [`UNBOUND_EXECUTABLE ${receipt()}#/evidence/flags`]],
  UNBOUND_CWD: [() => flagged('UNBOUND_CWD'), [`UNBOUND_CWD ${receipt()}#/evidence/flags`]],
  EXECUTABLE_REBOUND: [() => flagged('EXECUTABLE_REBOUND'), [`EXECUTABLE_REBOUND ${receipt()}#/evidence/flags`]],
  SCRIPT_REBOUND: [() => flagged('SCRIPT_REBOUND'), [`SCRIPT_REBOUND ${receipt()}#/evidence/flags`]],
  POLICY_DENIED: [
    () => altered((it) => Object.assign(it.policy, { outcome: 'DENY' })),
    [`POLICY_DENIED ${receipt()}#/policy/outcome`],
  ],
};

/** What `verifyPaths` never says: others judge it. */
const ELSEWHERE: Partial<Record<VerdictCode, string>> = {
  TRUNCATION_UNACCEPTABLE: 'the gate, by its policy',
  CONTEXT_MISMATCH: 'the gate, against its subject',
  DERIVED_WITHOUT_ORIGINAL: 'retention',
};

/** Shown by tests below, since they need more than one store. */
const BELOW: readonly VerdictCode[] = ['CHAIN_NOT_ASSESSED', 'POLICY_DIGEST_MISMATCH', 'DUPLICATE'];

describe('each verdict code', () => {
  it('is shown by a test or judged elsewhere', () => {
    expect([...Object.keys(CASES), ...Object.keys(ELSEWHERE), ...BELOW].sort()).toEqual([...VERDICT_CODES].sort());
  });

  for (const [code, [build, expected]] of Object.entries(CASES))
    it(`${code} names its place and brings no other`, async () => {
      const keys = [
        ...trustIn(KEY, { validUntil: '2030-01-01T00:00:00Z' }).keys,
        ...(code === 'MIXED_SIGNERS' ? trustIn(STRANGER).keys : []),
      ];
      expect(await problems(build(), { trust: { version: 1, keys } })).toEqual(expected);
    });

  it('CHAIN_NOT_ASSESSED: a receipt by itself', async () => {
    const task = buildWholeTask();
    const verification = await verifyPaths([task.directoryOf(0)], { trust: TRUST });
    expect(listOf(verification, task.directory)).toEqual([`CHAIN_NOT_ASSESSED ${receipt()}`]);
    expect(verification.exitCode).toBe(1);
    expect(verification.receipts[0]?.verdicts.completeness).toBe('not-assessed');
  });

  it('POLICY_DIGEST_MISMATCH: another policy than the one asked for', async () => {
    const task = altered(() => undefined);
    expect(await problems(task, { policyDigest: digestOf('policy') })).toEqual([]);
    expect(await problems(task, { policyDigest: digestOf('other') })).toEqual([
      `POLICY_DIGEST_MISMATCH ${receipt()}#/policy/digest`,
    ]);
  });

  it('DUPLICATE: one id with other bytes', async () => {
    const task = altered(() => undefined);
    const copy = altered((it) => Object.assign(it.task, { step: 'other' }));
    const verification = await verifyPaths([task.directory, copy.directory], { trust: TRUST });
    expect(listOf(verification, task.directory)[0]).toBe(`DUPLICATE ${receipt()}`);
    expect(verification.chains.map((chain) => chain.verdicts.integrity)).toEqual(['fail', 'fail']);
  });

  it('DUPLICATE within one task', async () => {
    const task = new TaskBuilder();
    task.run();
    const receiptId = task.receiptIds[0] ?? '';
    const other = task.draft(receiptId, { exitCode: 1 });
    const directory = join(task.directory, 'receipts', receiptId.replace(/.$/, 'f'));
    mkdirSync(directory);
    writeFileSync(join(directory, 'receipt.dsse.json'), sealEnvelope(PAYLOAD_TYPES.receipt, other, KEY).envelope);
    const found = await problems(task.close());
    expect(found).toContain(`DUPLICATE receipts/${receiptId}/receipt.dsse.json`);
    expect(found).toContain(`UNEXPECTED_FILE receipts/${receiptId.replace(/.$/, 'f')}`);
  });
});

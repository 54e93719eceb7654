import { copyFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CommandReceipt } from '../../src/contract/index.ts';
import type { TrustedKey } from '../../src/contract/trust.ts';
import { KEY, STRANGER, TaskBuilder, TRUST, trustIn } from './build-store.ts';
import { listOf, problems, verifyTask } from './problems.ts';

const ended = Date.parse('2026-01-02T03:04:06.000Z');
const at = (milliseconds: number): string => new Date(ended + milliseconds).toISOString();

function oneCommand(): TaskBuilder {
  const task = new TaskBuilder();
  task.run();
  return task.close({ signedAt: at(0) });
}

const window = (key: Partial<TrustedKey>) => problems(oneCommand(), { trust: trustIn(KEY, key) });

describe('the time in which a key is valid', () => {
  it.each([
    ['begins at its first moment', { validFrom: at(0) }, true],
    ['has not begun a second before', { validFrom: at(1000) }, false],
    ['ends with its last moment', { validUntil: at(0) }, true],
    ['has ended a second after', { validUntil: at(-1000) }, false],
    ['ends right before a revocation', { revokedAt: at(1000) }, true],
    ['does not include the revocation', { revokedAt: at(0) }, false],
    ['may be written with an offset', { validFrom: '2026-01-02T05:04:06+02:00' }, true],
  ])('%s', async (_name, key, valid) => {
    const found = await window(key);
    if (valid) expect(found).toEqual([]);
    else
      expect(found.map((one) => one.replace(/receipts\/[^/]*/, 'R'))).toEqual([
        'KEY_NOT_VALID_AT_TIME head.dsse.json',
        'KEY_NOT_VALID_AT_TIME R/receipt.dsse.json',
      ]);
  });

  it('counts for a recovered receipt at the time of its recovery', async () => {
    const task = new TaskBuilder();
    task.run({ kind: 'lost' });
    task.close({ signedAt: '2026-01-02T04:00:00.000Z' });
    const codes = async (validUntil: string) =>
      (await problems(task, { trust: trustIn(KEY, { validUntil }) })).filter((one) => one.startsWith('KEY'));
    expect(await codes('2026-01-02T04:00:00Z')).toEqual([]);
    expect(await codes('2026-01-02T03:59:59Z')).toHaveLength(2);
  });
});

describe('a signer that is not trusted', () => {
  it('fails that verdict alone; integrity is not assessed', async () => {
    const task = new TaskBuilder({ key: STRANGER });
    task.run();
    const { chains, exitCode } = await verifyTask(task.close());
    expect(exitCode).toBe(1);
    expect(chains[0]?.receipts[0]?.verdicts).toEqual({
      integrity: 'not-assessed',
      signer: 'fail',
      completeness: 'pass',
      policy: 'pass',
    });
    expect(chains[0]?.verdicts).toMatchObject({ integrity: 'not-assessed', signer: 'fail' });
    expect(chains[0]?.receipts[0]?.signer).toEqual({ keyId: STRANGER.keyId, label: 'untrusted key' });
  });

  it('cannot excuse missing bodies', async () => {
    const task = new TaskBuilder();
    task.run({ stdout: { redacted: Buffer.from('x') } });
    task.record('CLOSED', {});
    task.writeHead({ state: 'closed', bodiesExpireAt: '2026-01-03T00:00:00.000Z', keyId: STRANGER.keyId }, STRANGER);
    const { rmSync } = await import('node:fs');
    rmSync(`${task.directoryOf(0)}/stdout.txt`);
    expect((await problems(task)).map((one) => one.split(' ')[0])).toEqual(['UNTRUSTED_SIGNER', 'OUTPUT_MISSING']);
  });

  it('is nobody with an empty trust file', async () => {
    expect(
      (await problems(oneCommand(), { trust: { version: 1, keys: [] } })).every((one) =>
        one.startsWith('UNTRUSTED_SIGNER'),
      ),
    ).toBe(true);
  });
});

describe('two executor keys in one task', () => {
  const both = { version: 1 as const, keys: [...TRUST.keys, ...trustIn(STRANGER).keys] };

  it('fail the chain by its signer, though each is trusted and every receipt holds', async () => {
    const task = new TaskBuilder();
    task.run();
    task.run({}, (receipt) => Object.assign(receipt.executor, { keyId: STRANGER.keyId }), STRANGER);
    const [chain] = (await verifyTask(task.close(), { trust: both })).chains;
    expect(chain?.verdicts).toEqual({ integrity: 'pass', signer: 'fail', completeness: 'pass', policy: 'pass' });
    expect(chain?.receipts.map(({ verified }) => verified)).toEqual([true, true]);
    expect(chain?.problems.map(({ code }) => code)).toEqual(['MIXED_SIGNERS']);
  });

  it('are none where the second one only recovered', async () => {
    const task = new TaskBuilder();
    task.run();
    const recovered = ({ evidence, executor }: CommandReceipt) => {
      for (const signer of [evidence.recoveredBy, executor]) Object.assign(signer ?? {}, { keyId: STRANGER.keyId });
    };
    task.run({ kind: 'lost' }, recovered, STRANGER);
    const found = await problems(task.close(), { trust: both });
    expect(found).toContainEqual(expect.stringContaining('MISSING_TERMINATED'));
    expect(found).not.toContainEqual(expect.stringContaining('MIXED_SIGNERS'));
  });
});

describe('a signature', () => {
  it('over another kind of statement does not pass for this one', async () => {
    const task = oneCommand();
    copyFileSync(task.head, task.receipt(0));
    expect((await problems(task)).map((one) => one.split(' ')[0])).toEqual(['SCHEMA_UNSUPPORTED']);
  });

  it('names its signer for people', async () => {
    const local = await verifyTask(oneCommand(), { trust: TRUST, trustLabel: 'local key' });
    expect(local.chains[0]?.receipts[0]).toMatchObject({
      signer: { keyId: KEY.keyId, label: 'local key' },
      notes: ['signer: local key'],
    });
    expect(listOf(local, '')).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { verifyPaths } from '../../src/verify/index.ts';
import { buildWholeTask, TaskBuilder, TRUST, temporaryDirectory } from './build-store.ts';
import { problems, verifyTask } from './problems.ts';

const allPass = { integrity: 'pass', signer: 'pass', completeness: 'pass', policy: 'pass' };

describe('a whole task', () => {
  it('verifies with one command of every kind: a verdict is not an outcome', async () => {
    const task = buildWholeTask();
    const verification = await verifyTask(task);
    expect(verification).toMatchObject({
      schema: 'command-receipts.verification.v1',
      ok: true,
      exitCode: 0,
      errors: [],
    });
    const [chain] = verification.chains;
    expect(chain).toMatchObject({
      taskId: 'build',
      state: 'closed',
      count: 6,
      verified: true,
      verdicts: allPass,
      problems: [],
      unsealed: [],
    });
    expect(chain?.receipts.map((receipt) => receipt.facts?.termination.kind)).toEqual([
      'exited',
      'exited',
      'signaled',
      'timed-out',
      'refused',
      'start-failed',
    ]);
    for (const receipt of chain?.receipts ?? [])
      expect(receipt).toMatchObject({ verified: true, verdicts: allPass, notes: [] });
  });

  it('gives facts of full shape, null where a kind has none', async () => {
    const [chain] = (await verifyTask(buildWholeTask())).chains;
    const exited = chain?.receipts[0]?.facts;
    const refused = chain?.receipts[4]?.facts;
    expect(Object.keys(exited ?? {})).toEqual(Object.keys(refused ?? {}));
    expect(refused).toMatchObject({ streams: null, process: null, sandbox: null, script: null });
    expect(exited?.streams?.stdout?.observedBytes).toBe(8);
  });

  it.each(['store', 'directory'] as const)('is found from its %s', async (place) => {
    const task = buildWholeTask();
    expect((await verifyPaths([task[place]], { trust: TRUST })).exitCode).toBe(0);
  });

  it('verifies among others of one store', async () => {
    const store = temporaryDirectory();
    for (const [index, taskId] of ['a', 'b', '0197b2c4-d000-4000-8000-000000000001'].entries())
      buildWholeTask({ store, taskId, number: index + 1 });
    const verification = await verifyPaths([store], { trust: TRUST });
    expect(verification.exitCode).toBe(0);
    expect(verification.chains).toHaveLength(3);
  });

  it('verifies when attempts overlap and are sealed in another order', async () => {
    const task = new TaskBuilder();
    const late = '0197b2c4-d000-7000-8000-0000000000ff';
    task.record('REQUESTED', {}, late);
    task.run();
    const termination = { kind: 'refused', exitCode: null, signal: null, code: 'CWD_ESCAPES', message: 'outside' };
    task.record('REFUSED', { termination }, late);
    task.sealDraft(late, { kind: 'refused' }, (receipt) => Object.assign(receipt, { termination }));
    task.close();
    expect(await problems(task)).toEqual([]);
  });
});

describe('output', () => {
  it.each([
    ['empty streams', {}],
    [
      'many chunks of both streams',
      {
        stdout: { redacted: Buffer.alloc(1000, 'a'), chunkSize: 7 },
        stderr: { redacted: Buffer.alloc(500, 'b'), chunkSize: 11 },
      },
    ],
    ['everything removed', { stdout: { redacted: Buffer.alloc(0), observed: 40 } }],
    ['more redacted than observed', { stdout: { redacted: Buffer.from('[REDACTED]'), observed: 3, inserted: 10 } }],
    [
      'a cut that keeps the head only',
      { stdout: { redacted: Buffer.alloc(5000, 'x'), keep: { head: 1000, tail: 0 }, chunkSize: 64 } },
    ],
    [
      'a cut that keeps the tail only',
      { stdout: { redacted: Buffer.alloc(5000, 'x'), keep: { head: 0, tail: 1000 }, chunkSize: 64 } },
    ],
    ['a cut that keeps nothing', { stdout: { redacted: Buffer.alloc(5000, 'x'), keep: { head: 0, tail: 0 } } }],
    ['a body larger than one block', { stdout: { redacted: Buffer.alloc(300_000, 'y'), chunkSize: 65_536 } }],
  ])('%s verifies', async (_name, spec) => {
    const task = new TaskBuilder();
    task.run(spec);
    task.close();
    expect(await problems(task)).toEqual([]);
  });
});

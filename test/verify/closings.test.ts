import { describe, expect, it } from 'vitest';
import type { CommandReceipt, StreamEvidence } from '../../src/contract/index.ts';
import { TaskBuilder } from './build-store.ts';
import { verifyTask } from './problems.ts';

async function notesOf(changes: Partial<StreamEvidence>): Promise<readonly string[] | undefined> {
  const task = new TaskBuilder();
  task.run({ stdout: { redacted: Buffer.from('12345678') } }, (receipt: CommandReceipt) => {
    if (receipt.started === 'yes' && receipt.streams.stdout) Object.assign(receipt.streams.stdout, changes);
  });
  const verification = await verifyTask(task.close());
  expect(verification.exitCode).toBe(0);
  return verification.chains[0]?.receipts[0]?.notes;
}

describe('a stream that was not read to its end verifies, with a note', () => {
  const late = 'when the grace period ended: what was printed later is not in the evidence';
  const many = Array.from({ length: 7 }, (_, pid) => ({ pid, comm: 'x' }));
  it.each<readonly [string, Partial<StreamEvidence>, string]>([
    [
      'held by one process',
      { closed: 'grace-expired', holders: [{ pid: 7, comm: 'sleep' }] },
      `stdout was still held by sleep (pid 7) ${late}`,
    ],
    [
      'held by many',
      { closed: 'grace-expired', holders: many },
      `stdout was still held by x (pid 0), x (pid 1), x (pid 2), x (pid 3), x (pid 4), 2 more ${late}`,
    ],
    [
      'held by nobody knows whom',
      { closed: 'grace-expired' },
      `stdout was still held by a process that is not known ${late}`,
    ],
    ['read by nobody', { closed: 'consumer-closed' }, 'nobody read stdout any more: reading stopped after 8 bytes'],
    [
      'whose reader was stopped',
      { closed: 'reader-stopped' },
      'the reader of stdout was stopped: reading stopped after 8 bytes',
    ],
    [
      'with a read error',
      { closed: 'read-error' },
      'stdout could not be read to its end: reading stopped after 8 bytes',
    ],
  ])('%s', async (_name, changes, note) => {
    expect(await notesOf(changes)).toEqual([note]);
  });

  it('and one that was has none', async () => {
    expect(await notesOf({})).toEqual([]);
  });
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TaskBuilder } from './build-store.ts';
import { problemsOf, verifyTask } from './problems.ts';

/** A small store with every kind of file: uncut and cut bodies, both streams, chunks, receipts, journal, head. */
function smallTask(): TaskBuilder {
  const task = new TaskBuilder();
  task.run({
    stdout: { redacted: Buffer.from('ok\n') },
    stderr: { redacted: Buffer.from('abcdefgh'), keep: { head: 2, tail: 3 }, chunkSize: 4 },
  });
  return task.close();
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Some ten thousand bytes, each a verification of its own; other work on the machine may slow it down. */
describe('every byte of every file', { timeout: 300_000 }, () => {
  const task = smallTask();
  const files = filesBelow(task.directory);

  it('is of all kinds', () => {
    expect(files.map((file) => file.split('/').at(-1)).sort()).toEqual([
      'chunks.jsonl',
      'head.dsse.json',
      'journal.jsonl',
      'receipt.dsse.json',
      'stderr.head.txt',
      'stderr.tail.txt',
      'stdout.txt',
    ]);
  });

  for (const [name, flip] of [
    ['one bit', (byte: number, offset: number) => byte ^ (1 << (offset % 8))],
    ['a newline', (byte: number) => (byte === 10 ? 32 : 10)],
  ] as const)
    it(`counts: ${name} changed is found and the file named`, async () => {
      const missed: string[] = [];
      for (const file of files) {
        const bytes = readFileSync(file);
        for (let offset = 0; offset < bytes.length; offset++) {
          const changed = Buffer.from(bytes);
          changed[offset] = flip(bytes[offset] ?? 0, offset);
          writeFileSync(file, changed);
          const verification = await verifyTask(task);
          if (verification.exitCode !== 1 || !problemsOf(verification).some(({ where }) => where.startsWith(file)))
            missed.push(`${file}:${offset}`);
        }
        writeFileSync(file, bytes);
      }
      expect(missed).toEqual([]);
      expect((await verifyTask(task)).exitCode).toBe(0);
    });

  it('counts: a byte more, a byte less, and none at all are found and the file named', async () => {
    const missed: string[] = [];
    for (const file of files) {
      const bytes = readFileSync(file);
      for (const changed of [Buffer.concat([bytes, Buffer.from('\n')]), bytes.subarray(0, -1), Buffer.alloc(0)]) {
        writeFileSync(file, changed);
        const verification = await verifyTask(task);
        if (verification.exitCode !== 1 || !problemsOf(verification).some(({ where }) => where.startsWith(file)))
          missed.push(file);
      }
      writeFileSync(file, bytes);
    }
    expect(missed).toEqual([]);
  });
});

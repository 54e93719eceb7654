import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeVerification, verifyPaths } from '../../src/verify/index.ts';
import { wrapped } from '../../src/verify/terminal.ts';
import { buildWholeTask, TaskBuilder, TRUST } from './build-store.ts';
import { verifyTask } from './problems.ts';

describe('the description of a verification', () => {
  it('says what ran, how it ended, the verdicts by name, and the outcome last', async () => {
    const lines = describeVerification(await verifyTask(buildWholeTask()));
    expect(lines.slice(0, 8)).toEqual([
      'task build: closed, 6 receipts',
      '  integrity pass, signer pass, completeness pass, policy pass',
      '  $ /usr/bin/make test',
      '    exited 0',
      '    integrity pass, signer pass, completeness pass, policy pass',
      '  $ /usr/bin/make test',
      '    exited 3',
      '    integrity pass, signer pass, completeness pass, policy pass',
    ]);
    expect(lines).toContain('    ended by SIGKILL');
    expect(lines).toContain('    timed out (SIGKILL)');
    expect(lines).toContain('    refused (CWD_ESCAPES)');
    expect(lines).toContain('    did not start (SPAWN_FAILED)');
    expect(lines.at(-1)).toBe('verified');
  });

  it('names each problem with its code and place', async () => {
    const task = new TaskBuilder();
    task.run({ kind: 'lost' });
    task.writeHead();
    writeFileSync(join(task.directory, 'stray'), '');
    const lines = describeVerification(await verifyTask(task));
    const text = lines.join('\n').replace(/\n +/g, ' ');
    expect(text).toContain(`UNEXPECTED_FILE ${task.directory}/stray: a file that a task does not have`);
    expect(text).toContain('CHAIN_OPEN');
    expect(text).toContain('receipts close build');
    expect(text).toContain('end unknown, first missing stage BOUND');
    expect(lines.at(-1)).toBe('not verified');
  });

  it('names what could not be judged, and what to do', async () => {
    const text = describeVerification(await verifyPaths(['/nowhere'], { trust: TRUST }));
    expect(text).toEqual([
      'INPUT_UNREADABLE /nowhere: does not exist',
      '  Name an existing store, task directory or receipt that you can read.',
      'not verified',
    ]);
  });

  it('stays within the columns that it is given and lets no byte of the evidence reach the terminal as a command', async () => {
    const task = new TaskBuilder({ taskId: `t\u001b[2J\u202e${'long '.repeat(40)}` });
    task.run({ argv: ['printf', '\u001b]0;owned\u0007', 'a b', "it's", 'x'.repeat(300), '\u2066\n\r'] });
    const lines = describeVerification(await verifyTask(task.writeHead()), 80);
    for (const line of lines) {
      expect(line.length).toBeLessThanOrEqual(80);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    expect(lines.join('\n')).toContain('\\x1b]0;owned\\x07');
  });

  it('keeps each path and command in one line without a width', async () => {
    const task = new TaskBuilder();
    task.run({ argv: ['printf', 'x'.repeat(300)] });
    const lines = describeVerification(await verifyTask(task.writeHead()));
    expect(lines).toContain(`  $ printf ${'x'.repeat(300)}`);
    const open = lines.filter((line) => line.includes('CHAIN_OPEN'));
    expect(open).toEqual([expect.stringMatching(/ CHAIN_OPEN \/.*head\.dsse\.json#\/state: .*receipts close build$/)]);
  });
});

describe('text for a terminal', () => {
  it('breaks at spaces, and within a word that is too wide', () => {
    expect(wrapped('aaa bbb ccc', 9, '> ', '  ')).toEqual(['> aaa bbb', '  ccc']);
    expect(wrapped('abcdefghij', 6, '> ', '  ')).toEqual(['> abcd', '  efgh', '  ij']);
    expect(wrapped('', 6, '> ', '  ')).toEqual(['> ']);
  });
});

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, place } from './receipts.ts';

async function crashAfter(event: string) {
  const here = place();
  const executor = spawn(process.execPath, [CLI, 'run', '-q', '--', 'sleep', '30'], {
    cwd: here.directory,
    env: here.environment,
  });
  const store = join(here.directory, '.receipts');
  const journal = () => {
    const task = existsSync(store) ? readdirSync(store).find((name) => !name.startsWith('.')) : undefined;
    const path = task === undefined ? undefined : join(store, task, 'journal.jsonl');
    return path !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  while (!journal().includes(`"event":"${event}"`)) await new Promise((resolve) => setTimeout(resolve, 5));
  executor.kill('SIGKILL');
  await new Promise((resolve) => executor.on('close', resolve));
  const pid = /"pid":(\d+)/.exec(journal())?.[1];
  if (pid !== undefined) process.kill(Number(pid), 'SIGKILL');
  return here;
}

describe('an executor that crashes after STARTED', () => {
  it('is located by verify, and recovered as UNKNOWN_TERMINATION with no exit code', async () => {
    const here = await crashAfter('STARTED');
    const before = here.verify();
    expect(before.code).toBe(1);
    expect(before.verification.chains[0]?.unsealed[0]).toMatchObject({
      lastStage: 'STARTED',
      missingStage: 'TERMINATED',
    });
    expect(here.receipts(['recover']).stdout).toContain('UNKNOWN_TERMINATION');
    const { code, verification } = here.verify();
    expect(code).toBe(1);
    const receipt = verification.chains[0]?.receipts[0];
    expect(receipt?.facts?.termination).toEqual({
      kind: 'unknown',
      exitCode: null,
      signal: null,
      missingStage: 'TERMINATED',
    });
    expect(receipt?.problems.map((problem) => problem.code)).toContain('UNKNOWN_TERMINATION');
    expect(receipt?.verdicts).toMatchObject({ integrity: 'pass', signer: 'pass', completeness: 'fail' });
    expect(verification.chains[0]?.verdicts.integrity).toBe('pass');
    expect(here.receipts(['recover']).stdout).toContain('nothing to recover');
  });
});

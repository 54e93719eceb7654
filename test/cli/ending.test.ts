import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { CLI, type Place, place } from './receipts.ts';

/** Starts a run, sends signals as its output appears, and waits for its end. */
function signalled(here: Place, args: string[], signal: NodeJS.Signals, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [CLI, 'run', '-q', '--store', '.receipts', ...args], {
    cwd: here.directory,
    env: { ...here.environment, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.stdout.once('data', () => child.kill(signal));
  return new Promise<number | null>((resolve) => child.on('exit', resolve));
}

describe('the end of a command', () => {
  it('is not a timeout when the time runs out while background processes hold the output', () => {
    const here = place();
    const { code, receipt } = here.run([
      '--timeout',
      '1s',
      '--grace',
      '1500ms',
      '--',
      'sh',
      '-c',
      'setsid sleep 4 & sleep 0.2',
    ]);
    expect([code, receipt.termination]).toEqual([0, { kind: 'exited', exitCode: 0, signal: null }]);
    expect(receipt.streams.stdout?.closed).toBe('grace-expired');
    expect(here.verify().code).toBe(0);
    const wall = Date.parse(receipt.time.endedAt ?? '') - Date.parse(receipt.time.startedAt);
    const monotonic = Number(BigInt(receipt.time.monotonicEndNs ?? 0) - BigInt(receipt.time.monotonicStartNs)) / 1e6;
    // The two clocks tell of the command, not of the 1.5 s for which its output was waited for.
    expect(wall).toBeLessThan(monotonic + 1000);
  });

  it('is sealed in time when the runner cancels a command that ignores it, and leaves processes behind', async () => {
    const here = place();
    const script = 'trap "" INT TERM; setsid sleep 25 & echo ready; while :; do sleep 0.1; done';
    const code = await signalled(here, ['--grace', '10m', '--', 'sh', '-c', script], 'SIGINT', {
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: here.directory,
    });
    expect(code).toBe(137);
    const { verification } = here.verify();
    const facts = verification.chains[0]?.receipts[0]?.facts;
    expect(facts?.termination).toMatchObject({ kind: 'signaled', signal: 'SIGKILL' });
    // Whoever waited for the background process would have seen the end of the stream.
    expect(facts?.streams?.stdout?.closed).toBe('grace-expired');
  });

  it('redacts the name of a process that holds the output', () => {
    const here = place();
    const { receipt } = here.run(
      ['--grace', '200ms', '--', 'sh', '-c', 'cp "$(command -v sleep)" "$NAME_TOKEN"; ./"$NAME_TOKEN" 3 & echo'],
      {
        env: { NAME_TOKEN: 'hunter2secret' },
      },
    );
    expect(receipt.streams.stdout?.holders).toMatchObject([{ comm: expect.stringContaining('[REDACTED') }]);
    expect(JSON.stringify(receipt)).not.toContain('hunter2');
  });

  it('stands though a process of the command holds a lock of the store for good', () => {
    const here = place();
    const command = 'setsid flock .receipts/.work/t-*.lock sleep 12 >/dev/null 2>&1 & sleep 0.3; exit 7';
    const { status, stderr } = here.receipts(['run', '--task', 'x', '--', 'sh', '-c', command]);
    expect([status, stderr]).toEqual([7, expect.stringMatching(/STORE_UNWRITABLE: another process holds a lock/)]);
  });
});

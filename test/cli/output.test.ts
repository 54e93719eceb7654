import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, type Place, place } from './receipts.ts';

describe('--json', () => {
  it.each([
    [['run', '--json', '--frobnicate'], 125],
    [['run', '--json', '--timeout'], 125],
    [['run', '--json'], 125],
    [['list', '--frobnicate', '--json'], 2],
    [['show', '--json'], 2],
    [['show', '--json', '--output', 'stdout', '0000'], 2],
  ])('%j gives the error as a document, and exits %i', (args, code) => {
    const { status, stdout, stderr } = place().receipts(args);
    expect([status, JSON.parse(stdout)]).toEqual([
      code,
      {
        schema: 'command-receipts.error.v1',
        error: { code: 'USAGE', message: expect.any(String), where: null, next: expect.any(String) },
      },
    ]);
    expect(JSON.parse(stdout).error.message).not.toMatch(/^error:/);
    expect(stderr).toMatch(/\S/);
  });

  it('behind the options of run belongs to the command', () => {
    expect(place().receipts(['run', '--frobnicate', '--', 'x', '--json']).stdout).toBe('');
  });
});

describe('what is not shown on a terminal', () => {
  it('has every path of a verification in one line', () => {
    const here = place();
    const task = 'x'.repeat(60);
    here.receipts(['run', '-q', '--task', task, '--', 'true']);
    const [chain] = here.verify().verification.chains;
    const { stdout } = here.receipts(['verify']);
    expect(stdout).toContain(`CHAIN_OPEN ${join(chain?.path ?? '', 'head.dsse.json')}#/state: `);
    expect(stdout).toContain(`receipts close ${task}\n`);
  });
});

describe.runIf(process.platform === 'linux')('output that cannot be written', () => {
  const here = place();
  here.receipts(['run', '-q', '--', 'true']);
  const full = (of: Place, args: string[]) =>
    spawnSync(process.execPath, [CLI, ...args], {
      cwd: of.directory,
      env: of.environment,
      encoding: 'utf8',
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    });

  it.each([
    [['verify'], 2],
    [['verify', '--json'], 2],
    [['list'], 2],
    [['list', '--json'], 2],
    [['--help'], 2],
    [['--version'], 2],
    [['run', '--help'], 125],
  ])('%j exits %i and says so', (args, code) => {
    const { status, stderr } = full(here, args);
    expect([status, stderr]).toEqual([code, 'receipts: stdout could not be written (ENOSPC)\n']);
  });

  it("leaves a command's own exit code alone, and is said", () => {
    const { status, stderr } = full(here, ['run', '--json', '--', 'sh', '-c', 'exit 3']);
    expect([status, stderr]).toEqual([3, 'receipts: stdout could not be written (ENOSPC)\n']);
  });
});

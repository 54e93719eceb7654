import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, filesBelow, place } from './receipts.ts';

/** The program without its native part: a machine on which nothing can be protected. */
function withoutNative(): string {
  const directory = mkdtempSync(join(tmpdir(), 'receipts-plain-'));
  cpSync(dirname(CLI), directory, { recursive: true, filter: (path) => !path.includes('native') });
  return join(directory, 'cli.js');
}

describe('a process whose key others can read', () => {
  const bare = withoutNative();
  const here = place();
  const plain = (...args: string[]) =>
    spawnSync(process.execPath, [bare, ...args], { cwd: here.directory, env: here.environment, encoding: 'utf8' });
  const warning = /^receipts: warning: other processes of this user can read the signing key.*$/m;

  it.each([
    [['run', '--task', 't', '--', 'true'], 0],
    [['recover'], 0],
    [['close', 't'], 0],
  ])('%j says so in one line, and not with --quiet', (args, code) => {
    const [command = '', ...rest] = args;
    const { status, stderr } = plain(...args);
    expect([status, stderr]).toEqual([code, expect.stringMatching(warning)]);
    expect(plain(command, '--quiet', ...rest).stderr).not.toMatch(warning);
  });

  it('has it in the JSON of its run', () => {
    const { stdout } = plain('run', '--json', '--', 'true');
    expect(JSON.parse(stdout).protection).toMatchObject({
      dumpable: true,
      inspectorOpen: false,
      unprotectedReason: expect.any(String),
    });
  });

  it.each([
    [['run', '--', 'touch', 'launched'], 125],
    [['recover'], 2],
    [['close', 't'], 2],
  ])("%j says so of Node's inspector, and nothing is launched or signed", (args, code) => {
    const before = filesBelow(join(here.directory, '.receipts')).length;
    const { status, stderr } = here.receipts(args, { env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } });
    expect(stderr).toMatch(/^receipts: warning: Node's inspector is open[\s\S]*^receipts: KEY_EXPOSED/m);
    expect([status, existsSync(join(here.directory, 'launched'))]).toEqual([code, false]);
    expect(filesBelow(join(here.directory, '.receipts'))).toHaveLength(before);
  });
});

it.runIf(process.platform === 'linux')('nothing is said where nobody can', () => {
  const { status, stderr, stdout } = place().receipts(['run', '--json', '--', 'true']);
  expect([status, stderr, JSON.parse(stdout).protection]).toEqual([0, '', { dumpable: false, inspectorOpen: false }]);
});

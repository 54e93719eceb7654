import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, filesBelow, type Place, place } from './receipts.ts';

/** What verify has against the store that a run left; undefined where it left no store. */
function codesLeft(here: Place): string[] | undefined {
  if (!existsSync(join(here.directory, '.receipts'))) return undefined;
  const { chains, errors } = here.verify().verification;
  const problems = chains.flatMap((chain) => [chain, ...chain.receipts]).flatMap((judged) => judged.problems);
  return [...problems, ...errors].map(({ code }) => code);
}

describe('bad input to run', () => {
  it.each([
    ['an unknown flag', ['--frobnicate', '--', 'true'], 125, /unknown option/, undefined],
    ['a missing command', ['--'], 125, /USAGE/, undefined],
    ['both forms', ['--shell', 'true', '--', 'true'], 125, /USAGE/, undefined],
    ['a bad duration', ['--timeout', 'soon', '--', 'true'], 125, /USAGE.*soon/, undefined],
    ['an empty task', ['--task', '', '--', 'true'], 125, /USAGE/, undefined],
    ['a directory that does not exist', ['--cwd', 'nowhere', '--', 'true'], 125, /CWD_NOT_FOUND/, []],
    ['a file as directory', ['--cwd', 'file', '--', 'true'], 125, /CWD_NOT_A_DIRECTORY/, []],
    ['a directory outside', ['--cwd', '..', '--', 'true'], 125, /CWD_ESCAPES/, []],
    ['a link that leaves', ['--cwd', 'away', '--', 'true'], 125, /CWD_ESCAPES/, []],
    ['a program that does not exist', ['--', 'no-such-program'], 127, /PROGRAM_NOT_FOUND/, []],
    ['a program that is not executable', ['--', './file'], 126, /PROGRAM_NOT_EXECUTABLE/, []],
    ['a directory as program', ['--', './sub'], 126, /PROGRAM_IS_DIRECTORY/, []],
    ['an empty program', ['--', ''], 125, /ARGV_INVALID/, []],
    ['a policy that is not there', ['--policy', 'none.yml', '--', 'true'], 125, /POLICY_UNREADABLE/, undefined],
    ['a wrong policy', ['--policy', 'wrong.yml', '--', 'true'], 125, /POLICY_INVALID[\s\S]*wrong\.yml:2:1/, undefined],
    ['a store below a file', ['--store', 'file/store', '--', 'true'], 125, /STORE_UNWRITABLE/, undefined],
    ['a task that others close', ['--task', 'closed', '--', 'true'], 125, /TASK_CLOSED/, []],
    ['a policy that denies', ['--policy', 'deny.yml', '--', 'true'], 125, /POLICY_DENIED/, ['POLICY_DENIED']],
  ])('%s', (_name, args, code, message, left) => {
    const here = place();
    writeFileSync(join(here.directory, 'file'), 'x');
    writeFileSync(join(here.directory, 'wrong.yml'), 'version: 1\nversoin: 2\n');
    writeFileSync(join(here.directory, 'deny.yml'), 'version: 1\ndefault: deny\n');
    mkdirSync(join(here.directory, 'sub'));
    symlinkSync('/', join(here.directory, 'away'));
    if (args.includes('closed')) {
      here.receipts(['run', '-q', '--task', 'closed', '--', 'true']);
      here.receipts(['close', 'closed']);
    }
    const { status, stderr } = here.receipts(['run', ...args]);
    expect([status, stderr]).toEqual([code, expect.stringMatching(message)]);
    expect(stderr).not.toMatch(/^\s+at .*\.js:\d+/m);
    expect(codesLeft(here)).toEqual(left);
  });

  it('passes an empty later argument on', () => {
    const here = place();
    expect(here.receipts(['run', '-q', '--', 'printf', '[%s][%s]', '', 'x']).stdout).toBe('[][x]');
  });

  it('refuses a command that the policy denies, with a receipt, and starts nothing', () => {
    const here = place();
    writeFileSync(join(here.directory, 'policy.yml'), 'version: 1\ndefault: deny\n');
    const { code, receipt, stderr } = here.run(['--policy', 'policy.yml', '--', 'touch', 'launched']);
    expect(code).toBe(125);
    expect(receipt.termination).toMatchObject({ kind: 'refused', code: 'POLICY_DENIED' });
    expect(existsSync(join(here.directory, 'launched'))).toBe(false);
    expect(stderr).not.toContain('INTERNAL');
    expect(here.verify().verification.chains[0]?.receipts[0]?.problems.map((problem) => problem.code)).toEqual([
      'POLICY_DENIED',
    ]);
  });

  it('refuses a key that others may read, before anything is launched', () => {
    const here = place();
    here.receipts(['run', '-q', '--', 'true']);
    chmodSync(join(here.home, 'signing-key.pem'), 0o644);
    const { status, stderr } = here.receipts(['run', '--', 'touch', 'launched']);
    expect([status, stderr]).toEqual([125, expect.stringContaining('KEY_PERMISSIONS')]);
    expect(existsSync(join(here.directory, 'launched'))).toBe(false);
  });
});

describe('bad input to the other commands', () => {
  it.each([
    [['verify', 'nowhere'], 2],
    [['verify', '--trust', 'nowhere', '.'], 2],
    [['verify'], 2],
    [['show', '0000'], 2],
    [['list'], 2],
    [['recover'], 2],
    [['close', 'x'], 2],
    [['frobnicate'], 2],
    [['verify', '--frobnicate'], 2],
  ])('%j exits %i and says what to do', (args, code) => {
    const here = place();
    const { status, stdout, stderr } = here.receipts(args);
    expect(status).toBe(code);
    expect(stdout + stderr).toMatch(/\S/);
    expect(stdout + stderr).not.toMatch(/^\s+at .*\.js:\d+/m);
  });

  it.each([[['--help']], [['run', '--help']], [['verify', '--help']], [['--version']]])('%j exits 0', (args) => {
    expect(place().receipts(args).status).toBe(0);
  });
});

describe('a task id that holds a secret', () => {
  it.each([
    ['a token', `ghp_${'aB3'.repeat(12)}`, {}],
    ['a secret variable', 'rel-correct-horse-battery', { DEPLOY_TOKEN: 'correct-horse-battery' }],
  ])('is refused before anything is stored: %s', (_name, task, env) => {
    const here = place();
    const { status, stderr } = here.receipts(['run', '--task', task, '--', 'true'], { env });
    expect([status, stderr]).toEqual([125, expect.stringContaining('USAGE')]);
    for (const { path, bytes } of filesBelow(here.directory)) expect(bytes.includes(task), path).toBe(false);
  });
});

describe('a slow reader', () => {
  const here = place();
  for (let index = 0; index < 8; index++) here.receipts(['run', '-q', '--task', 't', '--', 'true']);
  const shell = (command: string) =>
    spawnSync('sh', ['-c', `receipts() { "${process.execPath}" "${CLI}" "$@"; }; ${command}`], {
      cwd: here.directory,
      env: here.environment,
      encoding: 'utf8',
    });

  it('gets the whole of a large JSON document', () => {
    const whole = here.receipts(['list', '--json']).stdout;
    const document = shell('receipts verify --json | (sleep 1; cat)').stdout;
    expect(JSON.parse(document).chains[0].receipts).toHaveLength(JSON.parse(whole).receipts.length);
    expect(document.length).toBeGreaterThan(65_536);
  });

  it.each([
    ['list', 0],
    ['list --json', 0],
    ['verify', 1],
    ['verify --json', 1],
    ['--help', 0],
    ['recover', 0],
  ])('that goes away is no fault of %s', (args, code) => {
    for (const reader of ['true', 'head -n 1 >/dev/null']) {
      const { stderr } = shell(`(receipts ${args}; echo "exit $?" >&2) | ${reader}`);
      expect(stderr).toBe(`exit ${code}\n`);
    }
  });

  it('that goes away leaves the exit code of show and of a command alone', () => {
    const [id = ''] = here.receipts(['list']).stdout.split(' ');
    expect(shell(`(receipts show ${id}; echo "exit $?" >&2) | true`).stderr).toBe('exit 0\n');
    expect(shell('receipts run --json -- sh -c "exit 3" 2>/dev/null | true; echo done').stdout).toBe('done\n');
  });
});

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StartedReceipt } from '../../src/contract/index.ts';
import { canaries, hmacKey, receiptOf, signingKey, treeText } from './evidence.ts';
import { Job } from './job.ts';

let job: Job;
beforeEach(() => {
  job = new Job();
});
afterEach(() => job.dispose());

describe('a command and its end', () => {
  test('its output, its exit code and its outputs', async () => {
    const result = await job.step({ run: 'echo out; echo err >&2; exit 3', step: 'unit' });
    expect(result.exitCode).toBe(3);
    expect(result.log.lines).toContain('out');
    expect(result.stderr).toBe('err\n');
    expect(result.outputs).toMatchObject({ 'exit-code': '3', termination: 'exited', verdict: 'sealed' });
    expect(result.log.commands.filter(({ name }) => name === 'error').map(({ data }) => data)).toEqual([
      'Process completed with exit code 3.',
    ]);
    const receipt = receiptOf(result);
    expect(receipt.receiptId).toBe(result.outputs['receipt-id']);
    expect(receipt).toMatchObject({ task: { id: 'github/4711/1658821493/1/build', step: 'unit', attempt: 1 } });
    expect(receipt.context).toMatchObject({ kind: 'github-actions', headSha: 'a'.repeat(40), sha: 'b'.repeat(40) });
  });

  test('argv as JSON and as a YAML list, without a shell', async () => {
    for (const argv of ['["printf", "%s|", "a b", "$HOME"]', '- printf\n- "%s|"\n- a b\n- $HOME']) {
      const result = await job.step({ argv });
      expect(result).toMatchObject({ exitCode: 0, outputs: { verdict: 'sealed' } });
      expect(result.stdout).toContain('a b|$HOME|');
      expect(receiptOf(result).command.mode).toBe('argv');
    }
  });

  test('a signal', async () => {
    const result = await job.step({ run: 'kill -KILL $$' });
    expect(result).toMatchObject({ exitCode: 137, outputs: { termination: 'signaled', 'exit-code': '137' } });
  });

  test('a timeout', async () => {
    const result = await job.step({ run: 'exec sleep 30', timeout: '200ms' });
    expect(result).toMatchObject({ exitCode: 124, outputs: { termination: 'timed-out' } });
  });

  test('a cancel reaches the command, and its receipt is sealed', async () => {
    const result = await job.step(
      { run: 'trap "echo caught; exit 9" INT; echo ready; sleep 20 & wait' },
      { interrupt: { shown: 'ready', signal: 'SIGINT' } },
    );
    expect(result).toMatchObject({ exitCode: 9, outputs: { termination: 'exited', verdict: 'sealed' } });
    expect(result.stdout).toContain('caught');
  });

  test('a program that is not there', async () => {
    const result = await job.step({ argv: '["no-such-program"]' });
    expect(result).toMatchObject({ exitCode: 127, outputs: { termination: 'start-failed', verdict: 'blocked' } });
    expect(result.log.commands.at(-1)?.properties).toBe('title=PROGRAM_NOT_FOUND');
  });

  test('a command that the policy denies', async () => {
    writeFileSync(join(job.workspace, 'policy.yml'), 'version: 1\ndefault: deny\n');
    const result = await job.step({ run: 'echo no', policy: 'policy.yml' });
    expect(result).toMatchObject({ exitCode: 125, outputs: { termination: 'refused', verdict: 'blocked' } });
    expect(result.stdout).not.toContain('\nno\n');
  });
});

describe('shells, as the runner has them', () => {
  test.each([
    ['', 'set -o | grep -c "pipefail.*on" || true; shopt -q login_shell || true; false | true', 0, ['-e']],
    ['bash', 'false | true', 1, ['--noprofile', '--norc', '-e', '-o', 'pipefail']],
    ['sh', 'echo "$BASH_VERSION"', 0, ['-e']],
    ['python', 'import sys; sys.exit(4)', 4, []],
    ['bash -x {0}', 'true', 0, ['-x']],
  ])('shell: %j', async (shell, run, exitCode, args) => {
    if (shell === 'python' && !existsSync('/usr/bin/python')) {
      mkdirSync(join(job.root, 'bin'));
      symlinkSync(execFileSync('which', ['python3'], { encoding: 'utf8' }).trim(), join(job.root, 'bin', 'python'));
      job.environment.PATH = `${join(job.root, 'bin')}:${job.environment.PATH}`;
    }
    const result = await job.step({ run, shell });
    expect(result.exitCode).toBe(exitCode);
    const { command } = receiptOf(result);
    expect(command.mode === 'shell' && command.shell.args).toEqual([...args, '{0}']);
  });

  test('without bash, sh', async () => {
    mkdirSync(join(job.root, 'bin'));
    symlinkSync('/bin/sh', join(job.root, 'bin', 'sh'));
    job.environment.PATH = join(job.root, 'bin');
    const result = await job.step({ run: 'echo hi' });
    expect(receiptOf(result).command).toMatchObject({ shell: { executable: 'sh', args: ['-e', '{0}'] } });
  });
});

describe('what the runner and the command see', () => {
  test('files and commands of the runner keep working', async () => {
    const run =
      'echo "A=1" >> "$GITHUB_ENV"; echo "x=2" >> "$GITHUB_OUTPUT"; echo "::warning file=a.js,line=1::look"; pwd';
    const result = await job.step({ run });
    expect(result.log.commands).toContainEqual({ name: 'warning', properties: 'file=a.js,line=1', data: 'look' });
    expect(readFileSync(join(job.temporary, '_runner_file_commands', 'env_1'), 'utf8')).toBe('A=1\n');
    expect(readFileSync(join(job.temporary, '_runner_file_commands', 'output_1'), 'utf8')).toMatch(/^x=2\n/);
    expect(result.log.lines).toContain(job.workspace);
  });

  test('what a plain step would not have had is withheld', async () => {
    const secret = { ACTIONS_RUNTIME_TOKEN: 'runtime-token-value', ACTIONS_RESULTS_URL: 'http://127.0.0.1:1/' };
    const result = await job.step({ run: 'env', 'signing-key': signingKey }, { environment: secret });
    expect(result.stdout).not.toMatch(/^(INPUT_|ACTIONS_RUNTIME|ACTIONS_RESULTS|STATE_)/m);
    const { withheld } = receiptOf(result).environment;
    expect(withheld.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['INPUT_RUN', 'INPUT_SIGNING-KEY', 'ACTIONS_RUNTIME_TOKEN', 'ACTIONS_RESULTS_URL']),
    );
  });

  test('a key from an input is not in the environment of the command, and the receipt says where it stood', async () => {
    const run = 'tr "\\0" "\\n" < /proc/self/environ | grep -c -e INPUT_ -e "PRIVATE KEY" || true';
    const result = await job.step({ run, 'signing-key': signingKey });
    expect(result.log.lines).toContain('0');
    const { evidence, executor } = receiptOf(result);
    expect(evidence.flags).toEqual(['KEY_EXPOSED_AT_START']);
    expect(executor.custody).toBe('reachable-by-command');
    expect(result.outputs.verdict).toBe('sealed');
  });

  test('a fork has no key: it runs all the same, and the log says what that means', async () => {
    const result = await job.step({ run: 'true', 'signing-key': '', 'hmac-key': '' });
    expect(result).toMatchObject({ exitCode: 0, outputs: { verdict: 'sealed' } });
    expect(result.log.commands[0]?.data).toContain('no signing-key');
    expect(receiptOf(result).evidence.gaps.map(({ reason }) => reason)).toContain('unverifiable-later');
  });
});

describe('secrets', () => {
  test('nothing that was declared secret is stored, shown, or in an output', async () => {
    const run = [
      'printf "a canary-"; sleep 0.2; printf "one-4711 b\\n"',
      'echo "::add-mask::canary-two-4712"; echo "seen canary-two-4712" >&2; echo "canary-two-4712"',
      'echo "$DEPLOY_TOKEN"; printf %s "$DEPLOY_TOKEN" | base64',
      `echo '${hmacKey}'`,
    ].join('\n');
    const inputs = {
      run,
      'signing-key': signingKey,
      'hmac-key': hmacKey,
      secrets: 'canary-one-4711\n\nother-secret-value',
    };
    const result = await job.step(inputs, { environment: { DEPLOY_TOKEN: 'canary-three-4713' } });
    expect(result.exitCode).toBe(0);
    const values = [
      'canary-one-4711',
      'canary-two-4712',
      'canary-three-4713',
      ...canaries(signingKey),
      ...canaries(hmacKey),
    ];
    const evidence = treeText(job.store);
    for (const value of values) {
      for (const form of [value, Buffer.from(value).toString('base64')]) {
        expect(result.log.lines.join('\n')).not.toContain(form);
        expect(result.stderr).not.toContain(form);
        expect(evidence).not.toContain(form);
        expect(JSON.stringify([result.outputs, result.state])).not.toContain(form);
        // The text of the step is in the summary, so it is redacted there as well.
        expect(decoded(result.summary)).not.toContain(form);
      }
    }
    expect(result.log.masks).toContain('canary-two-4712');
    const { streams } = receiptOf(result) as StartedReceipt;
    expect(streams.stdout?.masksAddedAt).toEqual(['a canary-one-4711 b\n'.length]);
    expect(streams.stdout?.redaction.hits).toContainEqual({ type: 'add-mask', count: 1 });
    expect(result.stdout).toContain('[REDACTED:literal]');
  });

  test('a command in the summary cannot leave its cell', async () => {
    const result = await job.step({
      run: 'echo "a|b `c` <img src=x> **d** [e](http://f.example) @octocat" > /dev/null',
    });
    const rows = result.summary.trim().split('\n');
    expect(rows).toHaveLength(3);
    expect(rows[2]?.match(/ \| /g)).toHaveLength(7);
    expect(rows[2]).not.toMatch(/[`*[\]@]|<img|http:\/\//);
  });
});

describe('input that cannot be used', () => {
  const refused = { exitCode: 125, outputs: { 'exit-code': '125', termination: 'not-attempted', verdict: 'unsealed' } };

  test('everything that is wrong is said at once', async () => {
    const bad = {
      run: 'x',
      argv: '["y"]',
      timeout: 'soon',
      'signing-key': 'bm9uc2Vuc2U=',
      upload: 'maybe',
      'retention-days': '0',
    };
    const result = await job.step({ ...bad, 'artifact-name': 'a/b', matrix: '{' });
    expect(result).toMatchObject(refused);
    const faults = result.log.commands.filter(({ name }) => name === 'error').map(({ data }) => data.split(/[ :]/)[1]);
    expect(faults.sort()).toEqual([
      'argv',
      'artifact-name',
      'matrix',
      'retention-days',
      'signing-key',
      'timeout',
      'upload',
    ]);
  });

  test.each([
    ['neither run nor argv', {}, 'input run is missing'],
    ['argv that is no list', { argv: '{"a": 1}' }, 'input argv: is no list'],
    ['an empty list', { argv: '[]' }, 'input argv: is an empty list'],
    ['an element that is no string', { argv: '["a", 1]' }, 'no string (number 2)'],
    ['a shell beside argv', { argv: '["a"]', shell: 'bash' }, 'input shell stands beside argv'],
    ['an unknown shell', { run: 'a', shell: 'fish' }, 'input shell: is neither built in'],
    ['a mode of a later version', { mode: 'gate' }, 'asks for gate, which is not in this version'],
    ['an unknown mode', { mode: 'walk' }, 'input mode names no mode'],
    ['a key of another kind', { run: 'a', 'signing-key': 'x'.repeat(44) }, 'input signing-key: '],
    ['an HMAC key that is too short', { run: 'a', 'hmac-key': 'c2hvcnQ=' }, 'input hmac-key: '],
  ])('%s', async (_name, inputs, message) => {
    const result = await job.step(inputs as Record<string, string>);
    expect(result).toMatchObject(refused);
    expect(result.log.commands.at(-1)?.data).toContain(message);
    expect(existsSync(job.store)).toBe(false);
  });

  test.each([
    ['that does not exist', 'nowhere', 'CWD_NOT_FOUND'],
    ['that is a file', 'file', 'CWD_NOT_A_DIRECTORY'],
    ['outside of the workspace', '../..', 'CWD_ESCAPES'],
    ['behind a link that leaves it', 'link', 'CWD_ESCAPES'],
  ])('a working directory %s', async (_name, directory, code) => {
    writeFileSync(join(job.workspace, 'file'), '');
    symlinkSync('/tmp', join(job.workspace, 'link'));
    const result = await job.step({ run: 'echo ran', 'working-directory': directory });
    expect(result).toMatchObject({ exitCode: 125, outputs: { verdict: 'blocked' } });
    expect(result.log.commands.at(-1)?.properties).toBe(`title=${code}`);
    expect(result.log.lines).not.toContain('ran');
  });

  test('a working directory below the workspace, by its absolute path through a link', async () => {
    mkdirSync(join(job.workspace, 'sub'));
    symlinkSync(dirname(job.workspace), join(job.root, 'linked'));
    job.environment.GITHUB_WORKSPACE = join(job.root, 'linked', 'repo');
    const result = await job.step({ run: 'pwd', 'working-directory': join(job.root, 'linked', 'repo', 'sub') });
    expect(result.log.lines).toContain(join(job.workspace, 'sub'));
  });

  test('a workspace that is not there', async () => {
    job.environment.GITHUB_WORKSPACE = join(job.root, 'gone');
    expect(await job.step({ run: 'true' })).toMatchObject(refused);
  });

  test('a temporary directory that cannot be written', async () => {
    writeFileSync(job.store, 'a file stands here');
    const result = await job.step({ run: 'echo ran' });
    expect(result).toMatchObject(refused);
    expect(result.log.commands.at(-1)?.properties).toBe('title=STORE_UNWRITABLE');
    expect(result.log.lines).not.toContain('ran');
  });

  test.each(['GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_STEP_SUMMARY'])(
    '%s is missing: said, and the command counts',
    async (name) => {
      const missing = await job.step({ run: 'exit 4' }, { environment: { [name]: undefined } });
      const gone = await job.step({ run: 'exit 4' }, { environment: { [name]: '/no/such/file' } });
      for (const result of [missing, gone]) {
        expect(result.exitCode).toBe(4);
        expect(result.log.commands.some((command) => command.name === 'warning' && command.data.includes(name))).toBe(
          true,
        );
      }
    },
  );

  test('keys that others may read', async () => {
    await job.step({ run: 'true' });
    chmodSync(join(job.home, '.config', 'command-receipts', 'signing-key.pem'), 0o644);
    const result = await job.step({ run: 'true' });
    expect(result).toMatchObject(refused);
    expect(result.log.commands.at(-1)?.properties).toBe('title=KEY_PERMISSIONS');
  });
});

function decoded(markdown: string): string {
  return markdown.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
}

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, type Place, place } from './receipts.ts';

const TOKEN = `ghp_${'aB3'.repeat(12)}`;
const VALUE = 'correct-horse-battery';
const ENVIRONMENT = { DEPLOY_TOKEN: VALUE };

/** A place with a sealed task and with things whose names are secrets. */
function secretPlace(secret: string): Place {
  const here = place();
  here.receipts(['run', '-q', '--', 'echo', 'hello']);
  writeFileSync(join(here.directory, 'file'), 'x');
  writeFileSync(join(here.directory, `${secret}.yml`), 'version: 1\n');
  writeFileSync(join(here.directory, `${secret}-wrong.yml`), 'versoin: 1\n');
  mkdirSync(join(here.directory, secret));
  const [task = ''] = readdirSync(join(here.directory, '.receipts')).filter((name) => !name.startsWith('.'));
  writeFileSync(join(here.directory, '.receipts', task, `stray-${secret}`), '');
  return here;
}

describe.each([
  ['a token', TOKEN],
  ['the value of a secret variable', VALUE],
])('%s is not printed', (_name, secret) => {
  const here = secretPlace(secret);

  it.each([
    [['run', `--x=${secret}`, '--', 'true']],
    [['run', '--timeout', secret, '--', 'true']],
    [['run', '--shell-program', secret, '--shell', 'true']],
    [['run', '--step', `${secret}\n`, '--', 'true']],
    [['run', '--cwd', `no/${secret}`, '--', 'true']],
    [['run', '--', `./no/${secret}`]],
    [['run', '--policy', `no/${secret}`, '--', 'true']],
    [['run', '--policy', `${secret}-wrong.yml`, '--', 'true']],
    [['run', '--policy', `${secret}.yml`, '--', 'true']],
    [['run', '--store', `file/${secret}`, '--', 'true']],
    [['run', '--store', `${secret}/store`, '--', 'true']],
    [['verify', `no/${secret}`]],
    [['verify', secret]],
    [['verify', `${secret}/store`]],
    [['verify', '.receipts']],
    [['verify', '--trust', `no/${secret}`, '.receipts']],
    [['verify', '--policy', `no/${secret}`, '.receipts']],
    [['show', secret]],
    [['show', '0', '--output', secret]],
    [['show', '0', '--store', `${secret}/store`]],
    [['list', '--store', `${secret}/store`]],
    [['list', '--trust', `no/${secret}`]],
    [['list', secret]],
    [['close', secret]],
    [['recover', '--store', `no/${secret}`]],
    [[secret]],
  ])('%j', (args) => {
    const withJson = [...args.slice(0, 1), '--json', ...args.slice(1)];
    for (const form of [args, withJson]) {
      const { stdout, stderr } = here.receipts(form, { env: ENVIRONMENT });
      expect(stdout + stderr).toMatch(/\S/);
      expect(stdout + stderr).not.toContain(secret);
      // Nor broken into lines.
      expect((stdout + stderr).replaceAll(/\n */g, '')).not.toContain(secret);
      if (form === withJson && stdout !== '') JSON.parse(stdout);
    }
  });
});

it('a name that the policy calls secret is not printed, before the command and after it', () => {
  const here = place();
  writeFileSync(join(here.directory, 'policy.yml'), 'version: 1\nenvironment: { secrets: ["HARMLESS_*"] }\n');
  const env = { HARMLESS_NAME: VALUE };
  for (const args of [
    ['--store', VALUE, '--', 'true'],
    ['--cwd', VALUE, '--', 'true'],
  ]) {
    const { stdout, stderr } = here.receipts(['run', '--json', '--policy', 'policy.yml', ...args], { env });
    expect(stdout + stderr).not.toContain(VALUE);
  }
});

it('no byte of a path reaches the terminal as a command', () => {
  const here = place();
  const { stderr } = here.receipts(['verify', '--trust', '\u001b]0;owned\u0007\nreceipts: verified', '.']);
  expect(stderr).toContain('\\x1b]0;owned\\x07\\nreceipts');
});

it('what is printed to be used again can be used again', () => {
  const here = place();
  const odd = join(here.directory, "it's a store");
  const { stderr } = here.receipts(['run', '--store', odd, '--', 'true']);
  const [, hint = ''] = /^receipts: receipts (verify .*)$/m.exec(stderr) ?? [];
  const command = `"${process.execPath}" "${CLI}" ${hint}`;
  const output = execFileSync('sh', ['-c', command], {
    cwd: here.directory,
    env: here.environment,
    encoding: 'utf8',
  });
  expect(output).toMatch(/^verified$/m);
});

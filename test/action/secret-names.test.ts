import { existsSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Job } from './job.ts';

const TOKEN = `ghp_${'aB3'.repeat(12)}`;
const VALUE = 'correct-horse-battery';

let job: Job;
beforeEach(() => {
  job = new Job();
});
afterEach(() => job.dispose());

describe.each([
  ['a token', TOKEN, {}, {}],
  ['a secret input', VALUE, { secrets: `other-secret\n${VALUE}` }, {}],
  ['a secret variable', VALUE, {}, { DEPLOY_TOKEN: VALUE }],
])('%s', (_name, secret, inputs, environment) => {
  test.each(['artifact-name', 'task'])('in %s is refused before anything is stored', async (input) => {
    const run = { run: 'echo ran', [input]: `release-${secret}`, ...inputs };
    const { exitCode, outputs, log, stdout, stderr } = await job.step(run, { environment });
    expect([exitCode, outputs.verdict]).toEqual([125, 'unsealed']);
    expect(log.commands.at(-1)).toMatchObject({ properties: 'title=USAGE', data: expect.stringContaining('a secret') });
    if (input === 'artifact-name') expect(log.commands.at(-1)?.data).toContain('input artifact-name');
    expect(log.lines).not.toContain('ran');
    expect(existsSync(job.store)).toBe(false);
    for (const text of [log.lines.join('\n'), stderr]) expect(text).not.toContain(secret);
    expect(stdout.replaceAll(/^::add-mask::.*$/gm, '')).not.toContain(secret);
  });

  test('in the path of a policy is not shown', async () => {
    const run = { run: 'true', policy: `no/${secret}.yml`, ...inputs };
    const { exitCode, log, stdout } = await job.step(run, { environment });
    expect(exitCode).toBe(125);
    expect(log.commands.at(-1)?.properties).toBe('title=POLICY_UNREADABLE');
    expect(stdout.replaceAll(/^::add-mask::.*$/gm, '')).not.toContain(secret);
  });

  test('in an input that cannot be used is not shown, whatever else is wrong', async () => {
    const run = { run: 'true', matrix: '{', timeout: secret, 'artifact-name': `x/${secret}`, ...inputs };
    const { exitCode, stdout } = await job.step(run, { environment });
    expect(exitCode).toBe(125);
    expect(stdout.replaceAll(/^::add-mask::.*$/gm, '')).not.toContain(secret);
  });
});

test('a name that the policy calls secret', async () => {
  writeFileSync(`${job.workspace}/policy.yml`, 'version: 1\nenvironment: { secrets: ["HARMLESS_*"] }\n');
  const run = { run: 'true', policy: 'policy.yml', 'artifact-name': VALUE };
  const { exitCode, log } = await job.step(run, { environment: { HARMLESS_NAME: VALUE } });
  expect([exitCode, log.commands.at(-1)?.properties]).toEqual([125, 'title=USAGE']);
});

test('an open inspector is warned of, and no key is used', async () => {
  const result = await job.step({ run: 'echo ran' }, { environment: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } });
  const said = result.log.commands.map(({ name, properties, data }) => `${name} ${properties} ${data}`).join('\n');
  expect(said).toMatch(/^warning title=Command Receipts Node's inspector is open/m);
  expect(said).toMatch(/^error title=KEY_EXPOSED/m);
  expect(result.exitCode).toBe(125);
  expect(result.log.lines).not.toContain('ran');
  expect(existsSync(job.store)).toBe(false);
});

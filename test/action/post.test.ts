import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ArtifactService } from '../artifact-service/server.ts';
import { canaries, hmacKey, signingKey, treeText, writeTrust } from './evidence.ts';
import { DIST, Job, type StepResult } from './job.ts';

const KEYS = { 'signing-key': signingKey, 'hmac-key': hmacKey };

let service: ArtifactService;
let job: Job;
beforeEach(async () => {
  service = await ArtifactService.start();
  job = new Job(service.environment);
});
afterEach(async () => {
  job.dispose();
  await service.close();
});

/** Downloads artifacts by name, unpacks them into one directory and verifies it, as someone elsewhere would. */
function verifyArtifacts(names: readonly string[], ...options: string[]) {
  const directory = join(job.root, `download-${names.join('-')}`);
  mkdirSync(directory);
  for (const name of names) {
    const artifact = service.store.all().find((candidate) => candidate.name === name && candidate.id !== '');
    writeFileSync(join(job.root, 'a.zip'), service.store.bytes(artifact?.blob ?? ''));
    execFileSync('python3', ['-m', 'zipfile', '-e', join(job.root, 'a.zip'), directory]);
  }
  const trust = writeTrust(join(job.root, 'trust.yml'));
  const args = [join(DIST, 'cli.js'), 'verify', directory, '--trust', trust, '--json', ...options];
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { PATH: '', HOME: '/nonexistent' },
  });
  return { status, directory, verification: JSON.parse(stdout) };
}

function warnings(result: StepResult | undefined): string[] {
  return result?.log.commands.filter(({ name }) => name === 'warning').map(({ data }) => data) ?? [];
}

describe('closing and uploading', () => {
  test('several steps of a job are one task, closed by the first post step; elsewhere it verifies', async () => {
    await job.step({ ...KEYS, run: 'echo one', step: 'one' });
    await job.step({ ...KEYS, run: 'echo two; exit 2', step: 'two' });
    await job.step({ ...KEYS, argv: '["true"]', step: 'three' });
    const [first, ...later] = await job.post();
    expect(service.store.names()).toEqual(['receipts-build-1', 'receipts-build-1-bodies']);
    expect(first).toMatchObject({ exitCode: 0, outputs: { 'artifact-id': '1', 'bodies-artifact-id': '2' } });
    expect(first?.outputs['artifact-url']).toBe('https://github.com/octo/demo/actions/runs/1658821493/artifacts/1');
    const zip = service.store.bytes(service.store.all()[0]?.blob ?? '');
    expect(first?.outputs['artifact-digest']).toBe(`sha256:${createHash('sha256').update(zip).digest('hex')}`);
    for (const result of later) {
      expect(result.exitCode).toBe(0);
      expect(result.log.lines.join()).toContain('nothing to do');
    }
    const { status, verification } = verifyArtifacts(['receipts-build-1', 'receipts-build-1-bodies']);
    expect(verification.chains).toMatchObject([{ state: 'closed', count: 3, verified: true }]);
    expect(status).toBe(0);
  });

  test('the receipts alone verify without bodies, and the bodies are missed otherwise', async () => {
    await job.step({ ...KEYS, run: 'echo one' });
    await job.post();
    expect(verifyArtifacts(['receipts-build-1'], '--no-bodies').status).toBe(0);
    rmSync(join(job.root, 'download-receipts-build-1'), { recursive: true });
    const { status, verification } = verifyArtifacts(['receipts-build-1']);
    expect(status).toBe(1);
    expect(JSON.stringify(verification)).toContain('OUTPUT_MISSING');
  });

  test('a command that prints nothing leaves no artifact of bodies', async () => {
    await job.step({ ...KEYS, run: 'true' });
    const [post] = await job.post();
    expect(post?.outputs['bodies-artifact-id']).toBe('');
    expect(service.store.names()).toEqual(['receipts-build-1']);
    expect(verifyArtifacts(['receipts-build-1']).status).toBe(0);
  });

  test('legs of a matrix have names and tasks of their own', async () => {
    const task = async (matrix: string) => (await job.step({ ...KEYS, run: 'true', matrix })).state.task;
    const [a, b, c] = [await task('{"os":"a","n":1}'), await task('{"n":1,"os":"a"}'), await task('{"os":"b","n":1}')];
    expect(a).toBe(b);
    expect(a).not.toBe(c);
    await job.post();
    expect(service.store.names()).toHaveLength(2);
    for (const name of service.store.names()) expect(name).toMatch(/^receipts-build-[0-9a-f]{12}-1$/);
  });

  test('an executor that was killed gets its receipt, and what it says is unknown', async () => {
    await job.step({ ...KEYS, run: 'echo ready; exec sleep 2' }, { interrupt: { shown: 'ready', signal: 'SIGKILL' } });
    const [post] = await job.post();
    expect(warnings(post).join()).toContain('first missing TERMINATED');
    const { verification } = verifyArtifacts(['receipts-build-1']);
    expect(verification.chains[0].receipts[0].facts.termination).toMatchObject({ kind: 'unknown' });
  });

  test('a step that got no further than its inputs leaves nothing to close', async () => {
    await job.step({ ...KEYS, run: '' });
    const [post] = await job.post();
    expect(post).toMatchObject({ exitCode: 0, stderr: '' });
    expect(service.requests).toEqual([]);
  });

  test('upload: false closes and says where', async () => {
    await job.step({ ...KEYS, run: 'true', upload: 'false' });
    const [post] = await job.post();
    expect(post?.log.lines.join()).toContain(job.store);
    expect(service.requests).toEqual([]);
  });

  test('a task of its own is closed and uploaded by its own post step', async () => {
    await job.step({ ...KEYS, run: 'true', task: 'release' });
    await job.step({ ...KEYS, run: 'true' });
    await job.post();
    expect(service.store.names()).toEqual(['receipts-build-1', 'receipts-build-1-2']);
    const { status, verification } = verifyArtifacts(['receipts-build-1', 'receipts-build-1-2']);
    expect(verification.chains.map((chain: { state: string }) => chain.state)).toEqual(['closed', 'closed']);
    expect(status).toBe(0);
  });

  test('closed is final: a step that comes later is refused before anything runs', async () => {
    await job.step({ ...KEYS, run: 'true' });
    await job.post();
    const late = await job.step({ ...KEYS, run: 'echo ran' });
    expect(late).toMatchObject({ exitCode: 125, outputs: { verdict: 'unsealed' } });
    expect(late.log.commands.at(-1)?.properties).toBe('title=TASK_CLOSED');
    expect(late.log.lines).not.toContain('ran');
  });

  test('a fork: signed by a key of the machine, which nobody elsewhere trusts', async () => {
    await job.step({ run: 'echo one' });
    await job.post();
    const { status, verification } = verifyArtifacts(['receipts-build-1', 'receipts-build-1-bodies']);
    expect(status).toBe(1);
    expect(JSON.stringify(verification)).toContain('UNTRUSTED_SIGNER');
  });
});

describe('names, failures and what is planted', () => {
  test('a name that is taken gets a number', async () => {
    const other = new Job(service.environment);
    for (const each of [other, job]) {
      await each.step({ ...KEYS, run: 'echo same' });
      await each.post();
    }
    other.dispose();
    const names = ['receipts-build-1', 'receipts-build-1-bodies', 'receipts-build-1-2', 'receipts-build-1-2-bodies'];
    expect(service.store.names()).toEqual(names);
    expect(verifyArtifacts(names.slice(2)).status).toBe(0);
  });

  test('answers of 500 are tried again by the client, a broken connection by us', async () => {
    service.fail({ method: 'CreateArtifact', times: 1, how: 500 });
    service.fail({ method: 'FinalizeArtifact', times: 1, how: 'reset' });
    await job.step({ ...KEYS, run: 'true' });
    const [post] = await job.post();
    // The upload that was cut off has taken its name.
    expect(service.store.names()).toEqual(['receipts-build-1-2']);
    expect(post?.outputs['artifact-id']).not.toBe('');
    expect(verifyArtifacts(['receipts-build-1-2']).status).toBe(0);
  });

  test('a service that is down: a warning that says where the evidence is, never a failed step', async () => {
    await job.step({ ...KEYS, run: 'echo one' });
    await job.step({ ...KEYS, run: 'echo two' });
    await job.step({ ...KEYS, run: 'echo three' });
    const down = { ACTIONS_RESULTS_URL: 'http://127.0.0.1:9/' };
    const results = await job.post({ environment: down });
    for (const { exitCode } of results) expect(exitCode).toBe(0);
    expect(warnings(results[0])[0]).toMatch(/^UPLOAD_FAILED: [\s\S]*Nothing was uploaded.*t-[0-9a-f]{32}/);
    // Two tries, then the service is left alone.
    expect(results.map((result) => warnings(result).length)).toEqual([1, 1, 0]);
    expect(
      existsSync(join(job.store, readdirSync(job.store).find((name) => name.startsWith('t-')) ?? '', 'head.dsse.json')),
    ).toBe(true);
  });

  test('GitHub Enterprise Server, which the client refuses', async () => {
    await job.step({ ...KEYS, run: 'true' });
    const [post] = await job.post({ environment: { GITHUB_SERVER_URL: 'https://ghes.example' } });
    expect(post?.exitCode).toBe(0);
    expect(warnings(post).at(-1)).toContain('UPLOAD_FAILED');
  });

  test('links and strangers in the store are not carried off', async () => {
    const victim = join(job.root, 'victim.txt');
    writeFileSync(victim, 'canary-of-another-file');
    const run = `d=$(ls -d "$RUNNER_TEMP"/command-receipts/t-*); ln -s "${victim}" "$d/stranger"; r=$(ls -d "$d"/receipts/*); ln -s "${victim}" "$r/stdout.txt"`;
    await job.step({ ...KEYS, run });
    const [post] = await job.post();
    expect(warnings(post).join()).toContain('2 entries that do not belong');
    for (const { blob, id } of service.store.all())
      if (id !== '') expect(service.store.bytes(blob).toString('latin1')).not.toContain('canary-of-another-file');
  });

  test('keys are in no artifact, log, summary, output or state', async () => {
    await job.step({ ...KEYS, run: 'echo done', secrets: 'canary-one-4711' });
    const posts = await job.post();
    const { directory } = verifyArtifacts(['receipts-build-1', 'receipts-build-1-bodies']);
    const seen = [treeText(directory), treeText(job.store)];
    for (const { log, stderr, outputs, state, summary } of [...job.outputs, ...posts])
      seen.push(log.lines.join('\n'), stderr, JSON.stringify([outputs, state]), summary);
    for (const value of [...canaries(signingKey), ...canaries(hmacKey), 'canary-one-4711', service.token])
      for (const text of seen) expect(text).not.toContain(value);
  });
});

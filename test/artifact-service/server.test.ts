import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ArtifactClient, DefaultArtifactClient } from '@actions/artifact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ArtifactService } from './server.ts';

/** The service is what GitHub's own client takes for one. */
let service: ArtifactService;
let client: ArtifactClient;
let directory: string;

beforeEach(async () => {
  service = await ArtifactService.start();
  directory = mkdtempSync(join(tmpdir(), 'artifact-service-'));
  writeFileSync(join(directory, 'a.txt'), 'content');
  for (const [name, value] of Object.entries(service.environment)) vi.stubEnv(name, value);
  vi.stubEnv('GITHUB_SERVER_URL', 'https://github.com');
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  client = new DefaultArtifactClient();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
  await service.close();
});

const upload = (name: string) =>
  client.uploadArtifact(name, [join(directory, 'a.txt')], directory, { retentionDays: 3 });

test('upload, list, get, download, delete', async () => {
  const { id, digest } = await upload('one');
  const { artifacts } = await client.listArtifacts();
  expect(artifacts).toMatchObject([{ name: 'one', id, digest: `sha256:${digest}` }]);
  expect((await client.getArtifact('one')).artifact).toMatchObject({ id });
  const path = join(directory, 'down');
  const expectedHash = `sha256:${digest}`;
  expect(await client.downloadArtifact(id ?? 0, { path, expectedHash })).toMatchObject({ digestMismatch: false });
  expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('content');
  expect(await client.deleteArtifact('one')).toEqual({ id });
  expect((await client.listArtifacts()).artifacts).toEqual([]);
});

test('a name is taken until its artifact is deleted', async () => {
  await upload('one');
  await expect(upload('one')).rejects.toThrow('(409)');
  await client.deleteArtifact('one');
  await expect(upload('one')).resolves.toMatchObject({ id: 2 });
});

test('an upload that was cut off has taken its name', async () => {
  service.fail({ method: 'FinalizeArtifact', times: 1, how: 'reset' });
  await expect(upload('one')).rejects.toThrow('ECONNRESET');
  await expect(upload('one')).rejects.toThrow('(409)');
  expect(service.store.names()).toEqual([]);
});

test('a token of another run is refused', async () => {
  vi.stubEnv('ACTIONS_RUNTIME_TOKEN', (await stoppedService()).token);
  await expect(upload('one')).rejects.toThrow('(401)');
});

/** Its token was good for another service. */
async function stoppedService(): Promise<ArtifactService> {
  const other = await ArtifactService.start();
  await other.close();
  return other;
}

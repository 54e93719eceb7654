import { join } from 'node:path';
import { messageOf } from '../contract/index.ts';
import { type ArtifactFiles, artifactFiles } from './artifact-files.ts';
import type { JobInputs } from './inputs.ts';
import { codeCell, table, textCell } from './markdown.ts';
import type { Runner } from './runner.ts';
import { type Uploaded, uploadArtifact } from './upload.ts';
import { isSettled, readRecord, recordPath, type UploadRecord, writeRecord } from './upload-record.ts';

/** What the post step made of the task. */
export interface ClosedTask {
  readonly state: 'closed' | 'open';
  readonly receipts: number;
  readonly recovered: number;
}

export interface PublishRequest extends ClosedTask {
  readonly id: string;
  readonly store: string;
  readonly directoryName: string;
  readonly artifactName: string;
  readonly inputs: JobInputs;
  readonly environment: NodeJS.ProcessEnv;
  readonly runner: Runner;
}

/** Uploads a closed task as two artifacts, once per job. A failure is said with what lies where, and fails nothing. */
export async function publish(request: PublishRequest): Promise<void> {
  const { store, directoryName, inputs, runner } = request;
  const directory = join(store, directoryName);
  if (!inputs.upload)
    return runner.info(`Command Receipts: upload is off; ${request.receipts} receipt(s) are in ${directory}`);
  const path = recordPath(store, directoryName);
  const before = readRecord(path);
  if (isSettled(before))
    return runner.info('Command Receipts: nothing to do, an earlier post step has closed and uploaded this task');
  const files = artifactFiles(directory);
  if (files.leftOut > 0) runner.warning(`${files.leftOut} entries that do not belong into ${directory} were left out`);
  const after = await uploadMissing(before, files, request);
  writeRecord(path, after);
  announce(request, after);
}

async function uploadMissing(
  before: UploadRecord,
  files: ArtifactFiles,
  request: PublishRequest,
): Promise<UploadRecord> {
  const { artifactName, inputs, runner, store, directoryName } = request;
  const upload = (name: string, list: readonly string[]): Promise<Uploaded> =>
    uploadArtifact({
      name,
      files: list,
      root: store,
      retentionDays: inputs.retentionDays,
      notify: (message) => runner.info(`Command Receipts: ${message}`),
    });
  let { receipts, bodies, failures } = before;
  try {
    receipts ??= await upload(artifactName, files.receipts);
    if (bodies === undefined)
      bodies = files.bodies.length === 0 ? null : await upload(`${receipts.name}-bodies`, files.bodies);
  } catch (error) {
    failures++;
    const what = receipts === undefined ? 'Nothing was uploaded' : `Only ${receipts.name} was uploaded`;
    const where = `The evidence is complete on this machine, in ${join(store, directoryName)}`;
    runner.warning(`UPLOAD_FAILED: ${messageOf(error)}\n${what}. ${where}: keep it before the runner removes it.`);
  }
  return { receipts, bodies, failures };
}

function announce({ id, state, receipts, recovered, environment, runner }: PublishRequest, record: UploadRecord): void {
  const { receipts: uploaded, bodies } = record;
  runner.outputs({
    'artifact-id': uploaded?.id ?? '',
    'artifact-url': uploaded ? artifactUrl(uploaded, environment) : '',
    'artifact-digest': uploaded?.digest ?? '',
    'bodies-artifact-id': bodies?.id ?? '',
  });
  const rows = [uploaded, bodies].filter((artifact) => artifact != null);
  const lines = rows.map(({ name, id: artifactId, digest }) => [
    textCell(name),
    textCell(artifactId),
    codeCell(digest),
  ]);
  const title = `Task ${codeCell(id)}: ${state}, ${receipts} receipt(s), ${recovered} recovered.\n\n`;
  runner.summary(`${title}${lines.length === 0 ? '' : table(['Artifact', 'Id', 'Digest'], lines)}`);
  for (const artifact of rows)
    runner.info(
      `Command Receipts: artifact ${artifact.name}, ${artifact.digest}, ${artifactUrl(artifact, environment)}`,
    );
}

/** Where GitHub shows an artifact; actions/upload-artifact prints the same. */
function artifactUrl({ id }: Uploaded, environment: NodeJS.ProcessEnv): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = environment;
  return `${server ?? 'https://github.com'}/${repository ?? ''}/actions/runs/${run ?? ''}/artifacts/${id}`;
}

import type { ArtifactClient } from '@actions/artifact';
import { messageOf, ReceiptsError } from '../contract/index.ts';

/** An artifact that the service has confirmed. */
export interface Uploaded {
  readonly name: string;
  readonly id: string;
  /** Of the zip file, as the REST API states it too. */
  readonly digest: string;
}

export interface UploadRequest {
  readonly name: string;
  readonly files: readonly string[];
  /** Paths in the artifact are relative to it. */
  readonly root: string;
  readonly retentionDays: number | undefined;
  readonly notify: (message: string) => void;
}

/** A name that is taken gets a number, up to this one. */
const MOST_NAMES = 20;
const RETRY_DELAYS_MS = [1000, 4000];

/**
 * Uploads through GitHub's own client, which retries what the service reports as passing (5xx, 429) but gives up at the
 * first broken connection: those are tried again here. Throws UPLOAD_FAILED.
 */
export async function uploadArtifact(request: UploadRequest): Promise<Uploaded> {
  const { DefaultArtifactClient } = await import('@actions/artifact');
  const client = new DefaultArtifactClient();
  for (let number = 1; number <= MOST_NAMES; number++) {
    const name = number === 1 ? request.name : `${request.name}-${number}`;
    const outcome = await tryName(client, name, request);
    if (outcome !== 'taken') return outcome;
  }
  throw failed(`the names ${request.name} to ${request.name}-${MOST_NAMES} are all taken`);
}

async function tryName(client: ArtifactClient, name: string, request: UploadRequest): Promise<Uploaded | 'taken'> {
  const { files, root, retentionDays, notify } = request;
  for (let attempt = 0; ; attempt++) {
    try {
      const options = retentionDays === undefined ? {} : { retentionDays };
      const { id, digest } = await client.uploadArtifact(name, [...files], root, options);
      if (id === undefined || digest === undefined) throw failed('the service gave no id or digest');
      return { name, id: String(id), digest: `sha256:${digest}` };
    } catch (error) {
      if (isTaken(error)) return 'taken';
      const delay = RETRY_DELAYS_MS[attempt];
      if (delay === undefined || !isBrokenConnection(error)) throw failed(messageOf(error), error);
      notify(`the connection to the artifact service broke (${messageOf(error).split('\n', 1)[0]}); trying again`);
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}

/** The client wraps the service's answer in a sentence and keeps no status beside it: artifact-twirp-client.ts. */
function isTaken(error: unknown): boolean {
  return /\(409\)/.test(messageOf(error));
}

/** `NetworkError` of the client, wrapped into a plain error by its request function, or as the socket reports it. */
function isBrokenConnection(error: unknown): boolean {
  return /Unable to make request: E|ECONNRESET|ECONNREFUSED|ETIMEDOUT|EPIPE|socket hang up/.test(messageOf(error));
}

function failed(message: string, cause?: unknown): ReceiptsError {
  return new ReceiptsError('UPLOAD_FAILED', message, { ...(cause !== undefined && { cause }) });
}

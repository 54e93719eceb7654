import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Artifact, ArtifactStore, Refusal } from './store.ts';

/*
 * A local service that speaks the protocol of artifacts v4 as @actions/artifact 6.2.1 does:
 * - Twirp over JSON at /twirp/github.actions.results.api.v1.ArtifactService/<method>, proto field names, int64 as strings,
 *   wrapped values bare (lib/generated/results/api/v1/artifact.js, artifact.twirp-client.js).
 * - Bearer token whose claim `scp` has `Actions.Results:<run>:<job>` (lib/internal/shared/util.js).
 * - The zip goes to a signed URL as Azure blocks and a block list (lib/internal/upload/blob-upload.js).
 * - A name that exists on the run is answered with 409 (docs.github.com, "artifacts are immutable"; upload-artifact README).
 */

const PREFIX = '/twirp/github.actions.results.api.v1.ArtifactService/';

/** What goes wrong with the next calls of a method (`CreateArtifact`, `blob`, …), this many times. */
export interface Fault {
  readonly method: string;
  readonly times: number;
  readonly how: number | 'reset';
}

export class ArtifactService {
  readonly store = new ArtifactStore();
  readonly requests: string[] = [];
  readonly token: string;
  readonly #server: Server;
  #faults: Array<{ method: string; times: number; how: number | 'reset' }> = [];

  private constructor() {
    const scope = `Actions.ExampleScope Actions.Results:${randomUUID()}:${randomUUID()}`;
    this.token = jwt({ scp: scope, exp: Math.floor(Date.now() / 1000) + 3600 });
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        if (error instanceof Refusal) send(response, error.status, { code: error.code, msg: error.message });
        else send(response, 500, { code: 'internal', msg: String(error) });
      });
    });
  }

  static async start(): Promise<ArtifactService> {
    const service = new ArtifactService();
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** The variables that the runner gives to a JavaScript action, and not to a `run:` step. */
  get environment(): Record<string, string> {
    return { ACTIONS_RESULTS_URL: this.url, ACTIONS_RUNTIME_TOKEN: this.token };
  }

  fail(fault: Fault): void {
    this.#faults.push({ ...fault });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const body = await bodyOf(request);
    const method = url.pathname.startsWith(PREFIX) ? url.pathname.slice(PREFIX.length) : 'blob';
    this.requests.push(method === 'blob' ? `${request.method} blob` : method);
    if (this.#isBroken(method, response)) return;
    if (method === 'blob') return this.#blob(request, url, body, response);
    if (request.headers.authorization !== `Bearer ${this.token}`)
      throw new Refusal(401, 'unauthenticated', 'the token is not that of this run');
    send(response, 200, this.#call(method, JSON.parse(body.toString('utf8')) as Record<string, string>));
  }

  #call(method: string, asked: Record<string, string>): unknown {
    const run = asked.workflow_run_backend_id ?? '';
    const name = asked.name ?? '';
    switch (method) {
      case 'CreateArtifact': {
        const { blob } = this.store.create(run, asked.workflow_job_run_backend_id ?? '', name);
        return { ok: true, signed_upload_url: this.#signed(blob) };
      }
      case 'FinalizeArtifact':
        return { ok: true, artifact_id: this.store.finalize(run, name, Number(asked.size), asked.hash) };
      case 'ListArtifacts':
        return { artifacts: this.store.list(run, asked.name_filter, asked.id_filter).map(listed) };
      case 'GetSignedArtifactURL':
        return { name, signed_url: this.#signed(this.store.finished(run, name).blob) };
      case 'DeleteArtifact':
        return { ok: true, artifact_id: this.store.remove(run, name) };
      default:
        throw new Refusal(404, 'bad_route', `no method ${method}`);
    }
  }

  #signed(blob: string): string {
    return `${this.url}blob/${blob}?sig=SIGNATURE-${blob}`;
  }

  #blob(request: IncomingMessage, url: URL, body: Buffer, response: ServerResponse): void {
    const blob = url.pathname.split('/')[2] ?? '';
    if (url.searchParams.get('sig') !== `SIGNATURE-${blob}`) throw new Refusal(403, 'forbidden', 'wrong signature');
    if (request.method === 'PUT') {
      this.store.put(blob, url.searchParams.get('comp'), url.searchParams.get('blockid') ?? '', body);
      response.writeHead(201, { etag: '"1"', 'last-modified': new Date().toUTCString() });
      response.end();
      return;
    }
    const zip = this.store.bytes(blob);
    response.writeHead(200, { 'content-type': 'application/zip', 'content-length': zip.length });
    response.end(zip);
  }

  #isBroken(method: string, response: ServerResponse): boolean {
    const fault = this.#faults.find((candidate) => candidate.method === method && candidate.times > 0);
    if (fault === undefined) return false;
    fault.times--;
    if (fault.how === 'reset') response.socket?.resetAndDestroy();
    else send(response, fault.how, { code: 'internal', msg: 'injected' });
    return true;
  }
}

function listed(artifact: Artifact) {
  const { run, job, id, name, size, createdAt, digest } = artifact;
  const ids = { workflow_run_backend_id: run, workflow_job_run_backend_id: job, database_id: id };
  return { ...ids, name, size: String(size), created_at: createdAt, digest };
}

function jwt(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}.${Buffer.from(randomUUID()).toString('base64url')}`;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

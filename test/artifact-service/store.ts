import { createHash, randomUUID } from 'node:crypto';

export interface Artifact {
  readonly run: string;
  readonly job: string;
  readonly name: string;
  readonly blob: string;
  id: string;
  size: number;
  digest: string;
  createdAt: string;
}

/** An answer other than 200, as Twirp gives it. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Artifacts of one service: names are taken from their creation on, and count once they are finalized. */
export class ArtifactStore {
  readonly #artifacts = new Map<string, Artifact>();
  readonly #blobs = new Map<string, Buffer>();
  readonly #blocks = new Map<string, Buffer>();
  #nextId = 1;

  create(run: string, job: string, name: string): Artifact {
    if (name === '' || /["\r\n:<>|*?\\/]/.test(name))
      throw new Refusal(400, 'invalid_argument', 'the name is not valid');
    if (this.#artifacts.has(key(run, name)))
      throw new Refusal(409, 'already_exists', 'an artifact with this name already exists on the workflow run');
    const artifact = { run, job, name, blob: randomUUID(), id: '', size: 0, digest: '', createdAt: '' };
    this.#artifacts.set(key(run, name), artifact);
    return artifact;
  }

  put(blob: string, part: string | null, blockId: string, body: Buffer): void {
    if (part === 'block') this.#blocks.set(`${blob}/${blockId}`, body);
    else if (part === 'blocklist') this.#blobs.set(blob, this.#assembled(blob, body.toString('utf8')));
    else this.#blobs.set(blob, body);
  }

  finalize(run: string, name: string, size: number, hash: string | undefined): string {
    const artifact = this.#artifacts.get(key(run, name));
    if (artifact === undefined) throw new Refusal(404, 'not_found', 'no such artifact');
    const bytes = this.bytes(artifact.blob);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    if (bytes.length !== size)
      throw new Refusal(400, 'invalid_argument', `size ${size}, but ${bytes.length} bytes came`);
    if (hash !== undefined && hash !== digest) throw new Refusal(400, 'invalid_argument', 'the hash does not fit');
    Object.assign(artifact, { id: String(this.#nextId++), size, digest, createdAt: new Date().toISOString() });
    return artifact.id;
  }

  list(run: string, name?: string, id?: string): Artifact[] {
    return [...this.#artifacts.values()].filter(
      (artifact) =>
        artifact.run === run &&
        artifact.id !== '' &&
        (name === undefined || artifact.name === name) &&
        (id === undefined || artifact.id === id),
    );
  }

  finished(run: string, name: string): Artifact {
    const [artifact] = this.list(run, name);
    if (artifact === undefined) throw new Refusal(404, 'not_found', 'no such artifact');
    return artifact;
  }

  remove(run: string, name: string): string {
    const { id } = this.finished(run, name);
    this.#artifacts.delete(key(run, name));
    return id;
  }

  /** For tests: what is finalized, by name. */
  names(): string[] {
    return [...this.#artifacts.values()].filter(({ id }) => id !== '').map(({ name }) => name);
  }

  all(): Artifact[] {
    return [...this.#artifacts.values()];
  }

  bytes(blob: string): Buffer {
    const bytes = this.#blobs.get(blob);
    if (bytes === undefined) throw new Refusal(404, 'BlobNotFound', 'nothing was uploaded');
    return bytes;
  }

  /** Azure "Put Block List": the blocks in the order in which the list names them. */
  #assembled(blob: string, list: string): Buffer {
    const ids = [...list.matchAll(/<(?:Latest|Uncommitted|Committed)>([^<]+)</g)].map(([, id]) => id);
    return Buffer.concat(
      ids.map((id) => {
        const block = this.#blocks.get(`${blob}/${id}`);
        if (block === undefined) throw new Refusal(400, 'InvalidBlockList', 'a block is missing');
        return block;
      }),
    );
  }
}

function key(run: string, name: string): string {
  return `${run}/${name}`;
}

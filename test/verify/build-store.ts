import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CommandReceipt,
  canonicalBytes,
  canonicalText,
  chainGenesis,
  digestOf,
  encodeEnvelope,
  type Head,
  type JournalEventName,
  journalGenesis,
  PAYLOAD_TYPES,
  preAuthenticationEncoding,
  taskDirectoryName,
} from '../../src/contract/index.ts';
import { keyIdOf, rawPublicKey } from '../../src/contract/key-id.ts';
import type { Trust, TrustedKey } from '../../src/contract/trust.ts';
import { type CommandSpec, draftReceipt } from './build-receipt.ts';
import { buildStreams } from './build-streams.ts';

/**
 * Makes real, signed stores from docs/format.md with node:crypto and the contract alone, so that the verifier is tested
 * against the format and not against our own writer. Everything is deterministic.
 */
export interface TestKey {
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly raw: Buffer;
}

export function makeKey(name: string): TestKey {
  const seed = createHash('sha256').update(name).digest();
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  return { keyId: keyIdOf(publicKey), privateKey, raw: rawPublicKey(publicKey) };
}

export const KEY = makeKey('the signer of the tests');
export const STRANGER = makeKey('somebody else');

export function trustIn(key: TestKey, window: Partial<TrustedKey> = {}): Trust {
  return { version: 1, keys: [{ keyId: key.keyId, publicKey: key.raw.toString('base64'), ...window }] };
}

export const TRUST = trustIn(KEY);

const made: string[] = [];

export function removeTemporaryDirectories(): void {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
}

/** Until `removeTemporaryDirectories` is called: problems.ts does so after each test file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'receipts-verify-'));
  made.push(directory);
  return directory;
}

/** A UUIDv7 that sorts by its number. */
export function idOf(number: number): string {
  return `0197b2c4-d000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

export function sealEnvelope(
  payloadType: string,
  statement: unknown,
  key: TestKey,
): { payload: Buffer; envelope: Buffer } {
  const payload = canonicalBytes(statement);
  const signature = sign(null, preAuthenticationEncoding(payloadType, payload), key.privateKey);
  return { payload, envelope: encodeEnvelope({ payloadType, payload, keyId: key.keyId, signature }) };
}

export interface TaskOptions {
  readonly store?: string;
  readonly taskId?: string;
  /** Numbers the chain and its receipts apart from those of other tasks. */
  readonly number?: number;
  readonly key?: TestKey;
}

export type Events = ReadonlyArray<readonly [JournalEventName, Record<string, unknown>]>;

/** One task under construction. Each step is written when it is made. */
export class TaskBuilder {
  readonly store: string;
  readonly taskId: string;
  readonly chainId: string;
  readonly directory: string;
  readonly key: TestKey;
  readonly lines: string[] = [];
  readonly receiptIds: string[] = [];
  lastReceiptDigest: string;
  readonly #first: number;

  constructor(options: TaskOptions = {}) {
    this.store = options.store ?? temporaryDirectory();
    this.taskId = options.taskId ?? 'build';
    this.key = options.key ?? KEY;
    this.#first = (options.number ?? 1) * 0x1000;
    this.chainId = idOf(this.#first);
    this.lastReceiptDigest = chainGenesis(this.chainId);
    this.directory = join(this.store, taskDirectoryName(this.taskId));
    mkdirSync(join(this.directory, 'receipts'), { recursive: true });
    this.record('OPENED', { automatic: false, chainId: this.chainId, taskId: this.taskId });
  }

  get journal(): string {
    return join(this.directory, 'journal.jsonl');
  }

  get head(): string {
    return join(this.directory, 'head.dsse.json');
  }

  directoryOf(number: number): string {
    return join(this.directory, 'receipts', this.receiptIds[number] ?? 'none');
  }

  receipt(number: number): string {
    return join(this.directoryOf(number), 'receipt.dsse.json');
  }

  nextId(): string {
    return idOf(this.#first + this.lines.length + 0x100);
  }

  record(event: JournalEventName, facts: Record<string, unknown>, receiptId?: string): void {
    const previous = this.lines.at(-1);
    this.lines.push(
      canonicalText({
        schema: 'command-receipts.journal.v1',
        sequence: this.lines.length,
        chainId: this.chainId,
        event,
        ...(receiptId !== undefined && { receiptId }),
        at: '2026-01-02T03:04:05.000Z',
        monotonicNs: String(1000 + this.lines.length),
        keyId: this.key.keyId,
        facts,
        previous: previous === undefined ? journalGenesis(this.chainId) : digestOf(previous),
        mac: createHash('sha256').update(`mac ${this.lines.length}`).digest('hex'),
      }),
    );
    this.writeJournal();
  }

  writeJournal(): void {
    writeFileSync(this.journal, this.lines.map((line) => `${line}\n`).join(''));
  }

  /** Runs a command to its sealed receipt. `alter` changes the receipt before it is signed. */
  run(
    spec: CommandSpec = {},
    alter: (receipt: CommandReceipt) => unknown = () => undefined,
    key: TestKey = this.key,
  ): string {
    const receiptId = this.nextId();
    const draft = this.draft(receiptId, spec);
    alter(draft);
    for (const [event, facts] of eventsOf(draft)) this.record(event, facts, receiptId);
    this.writeFiles(receiptId, spec);
    this.seal(receiptId, draft, key);
    return receiptId;
  }

  /** Seals an attempt whose journal lines were recorded by hand. */
  sealDraft(receiptId: string, spec: CommandSpec, alter: (receipt: CommandReceipt) => unknown = () => undefined): void {
    const draft = this.draft(receiptId, spec);
    alter(draft);
    this.writeFiles(receiptId, spec);
    this.seal(receiptId, draft);
  }

  draft(receiptId: string, spec: CommandSpec): CommandReceipt {
    const chain = {
      id: this.chainId,
      sequence: this.receiptIds.length + 1,
      previousReceiptDigest: this.lastReceiptDigest,
    };
    return structuredClone(draftReceipt(spec, { receiptId, taskId: this.taskId, keyId: this.key.keyId, chain }));
  }

  seal(receiptId: string, receipt: CommandReceipt, key: TestKey = this.key): void {
    const directory = join(this.directory, 'receipts', receiptId);
    mkdirSync(directory, { recursive: true });
    const { payload, envelope } = sealEnvelope(PAYLOAD_TYPES.receipt, receipt, key);
    writeFileSync(join(directory, 'receipt.dsse.json'), envelope);
    this.receiptIds.push(receiptId);
    this.lastReceiptDigest = digestOf(payload);
    this.record('SEALED', { chainSequence: receipt.chain.sequence, receiptDigest: this.lastReceiptDigest }, receiptId);
  }

  writeFiles(receiptId: string, spec: CommandSpec): void {
    const directory = join(this.directory, 'receipts', receiptId);
    mkdirSync(directory, { recursive: true });
    if ((spec.kind ?? 'exited') === 'refused' || spec.kind === 'start-failed' || spec.kind === 'lost') return;
    const { chunkLines, files } = buildStreams(receiptId, spec);
    writeFileSync(join(directory, 'chunks.jsonl'), chunkLines.map((line) => `${line}\n`).join(''));
    for (const [name, bytes] of files) if (bytes.length > 0) writeFileSync(join(directory, name), bytes);
  }

  close(changes: Partial<Head> = {}): this {
    this.record('CLOSED', {});
    return this.writeHead({ state: 'closed', ...changes });
  }

  writeHead(changes: Partial<Head> = {}, key: TestKey = this.key): this {
    const head: Head = {
      schema: 'command-receipts.head.v1',
      taskId: this.taskId,
      chainId: this.chainId,
      count: this.receiptIds.length,
      lastReceiptDigest: this.lastReceiptDigest,
      journalLines: this.lines.length,
      journalDigest: digestOf(this.lines.at(-1) ?? ''),
      state: 'open',
      bodiesExpireAt: null,
      signedAt: '2026-01-02T03:05:00.000Z',
      keyId: key.keyId,
      ...changes,
    };
    writeFileSync(this.head, sealEnvelope(PAYLOAD_TYPES.head, head, key).envelope);
    return this;
  }
}

/** The journal lines of an attempt up to its seal, as docs/format.md §6.2 orders them. */
export function eventsOf(receipt: CommandReceipt): Events {
  const { termination } = receipt;
  const requested = ['REQUESTED', { argv: receipt.argv }] as const;
  if (termination.kind === 'refused') return [requested, ['REFUSED', { termination }]];
  if (termination.kind === 'start-failed') return [requested, ['BOUND', {}], ['START_FAILED', { termination }]];
  if (receipt.started === 'unknown') return [requested, ['UNKNOWN_TERMINATION', { termination }]];
  const started = [requested, ['BOUND', {}], ['STARTED', {}]] as const;
  if (termination.kind === 'unknown') return [...started, ['UNKNOWN_TERMINATION', { termination }]];
  if (termination.kind !== 'timed-out') return [...started, ['TERMINATED', { termination }]];
  return [...started, ['TIMEOUT_TERM', {}], ['TIMEOUT_KILL', {}], ['TERMINATED', { termination }]];
}

/** A closed task with one command of every kind that is complete: the store that everything is tried on. */
export function buildWholeTask(options: TaskOptions = {}): TaskBuilder {
  const task = new TaskBuilder(options);
  task.run({ stdout: { redacted: Buffer.from('one\ntwo\n') }, stderr: { redacted: Buffer.from('warning\n') } });
  task.run({
    kind: 'exited',
    exitCode: 3,
    stdout: { redacted: Buffer.from('x'.repeat(100)), keep: { head: 10, tail: 20 } },
  });
  task.run({ kind: 'signaled', stdout: { redacted: Buffer.from([0, 255, 254, 10, 13, 0, 128]) } });
  task.run({
    kind: 'timed-out',
    stderr: { redacted: Buffer.from('[REDACTED] is hidden'), observed: 24, inserted: 10 },
  });
  task.run({ kind: 'refused' });
  task.run({ kind: 'start-failed' });
  return task.close();
}

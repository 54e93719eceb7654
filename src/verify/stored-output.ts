import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { bodyFile, decodeEnvelope, parseCanonical, ReceiptsError } from '../contract/index.ts';
import { bodyNames } from './directory.ts';
import { isMissing, readWhole } from './evidence-file.ts';
import type { StreamName } from './facts.ts';
import { LARGEST_ENVELOPE } from './statement.ts';
import type { ReceiptVerification } from './verdicts.ts';

/** What a policy can ask to be kept of a stream: 64 MiB of each end. */
const LARGEST_BODY = 128 * 1024 * 1024;

/** The output that was kept of one stream. */
export interface StoredOutput {
  readonly head: Buffer;
  /** Empty unless something was dropped before it. */
  readonly tail: Buffer;
  /** Undefined where no receipt tells. */
  readonly droppedBytes: number | undefined;
}

/**
 * The bytes that the receipt digested: read anew, so digested anew (docs/format.md §7.1). Undefined for a stream that the
 * receipt does not have. Throws INPUT_UNREADABLE or INPUT_TOO_LARGE.
 */
export function readOutput({ facts, path }: ReceiptVerification, name: StreamName): StoredOutput | undefined {
  const stream = facts?.streams?.[name];
  if (!stream) return undefined;
  const parts = bodyNames(name, stream).map(
    ([file, length]) => [file, readWhole(join(dirname(path), file), length)] as const,
  );
  const part = (file: string): Buffer => parts.find(([known]) => known === file)?.[1] ?? Buffer.alloc(0);
  const cut = stream.droppedBytes > 0;
  const [head, tail] = [part(bodyFile(name, cut ? 'head' : 'whole')), part(bodyFile(name, 'tail'))];
  if (createHash('sha256').update(head).update(tail).digest('hex') !== stream.retained.sha256)
    throw new ReceiptsError('INPUT_UNREADABLE', `${name} is not what the receipt digested`, {
      where: dirname(path),
      next: 'See what verifies with: receipts verify',
    });
  return { head, tail, droppedBytes: stream.droppedBytes };
}

/** Whatever regular files stand under the names of a stream's output; nothing is known to be true of them. */
export function readUnverifiedOutput({ facts, path }: ReceiptVerification, name: StreamName): StoredOutput {
  const [whole, head, tail] = (['whole', 'head', 'tail'] as const).map((part) =>
    readIfThere(join(dirname(path), bodyFile(name, part))),
  );
  const none = Buffer.alloc(0);
  const kept = Buffer.concat([whole ?? none, head ?? none]);
  const stated = facts?.streams?.[name]?.droppedBytes;
  return { head: kept, tail: tail ?? none, droppedBytes: stated ?? (head || tail ? undefined : 0) };
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readWhole(path, LARGEST_BODY);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The document that was signed; null where there is none that can be read. */
export function readPayload(path: string): unknown {
  try {
    return parseCanonical(decodeEnvelope(readWhole(path, LARGEST_ENVELOPE), path).payload, path);
  } catch (error) {
    if (error instanceof ReceiptsError) return null;
    throw error;
  }
}

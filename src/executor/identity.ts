import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Executor, VERSION } from '../contract/index.ts';
import type { Signer } from '../evidence/index.ts';

/** What the receipt says about the program that made it. */
export function executorIdentity(signer: Signer, launcher: 'linux' | 'portable'): Executor {
  return {
    name: 'command-receipts',
    version: VERSION,
    distDigest: runningDistDigest(),
    runtime: `node ${process.version}`,
    platform: `${process.platform}-${process.arch}`,
    launcher,
    isolation: 'same-user',
    keyId: signer.keyId,
    custody: signer.custody,
  };
}

let distDigest: string | null | undefined;

/**
 * SHA-256 over the names and bytes of the bundle's scripts, in the order of their names, each preceded by its length as
 * 8 bytes big-endian. Null where the program runs from its source, which is not what was released.
 */
function runningDistDigest(): string | null {
  if (distDigest !== undefined) return distDigest;
  const file = fileURLToPath(import.meta.url);
  distDigest = file.endsWith('.ts') ? null : digestOfScripts(dirname(file));
  return distDigest;
}

function digestOfScripts(directory: string): string | null {
  try {
    const hash = createHash('sha256');
    const names = readdirSync(directory).filter((name) => name.endsWith('.js'));
    for (const name of names.sort()) {
      addWithLength(hash, Buffer.from(name, 'utf8'));
      addWithLength(hash, readFileSync(join(directory, name)));
    }
    return `sha256:${hash.digest('hex')}`;
  } catch {
    return null;
  }
}

function addWithLength(hash: ReturnType<typeof createHash>, bytes: Buffer): void {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(bytes.length));
  hash.update(length).update(bytes);
}

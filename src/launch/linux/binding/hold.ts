import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import type { BindingMethod } from '../../../contract/index.ts';
import { digestFdNow } from '../digest.ts';
import type { FileKind } from '../elf.ts';
import { leaseHolds } from '../leases.ts';
import type { Found } from '../lookup.ts';
import type { PathWatch } from '../script/watch.ts';

/** What every method starts from: a file found by name, opened for reading once more through its descriptor. */
export interface Source {
  readonly found: Found;
  readonly readFd: number;
  readonly filesystem: string;
  readonly kind: FileKind;
  readonly programsDirectory: string;
}

/** Bytes that a method has made immutable, or claims to watch. */
export interface Hold {
  readonly method: BindingMethod;
  readonly filesystem: string;
  readonly sha256: string;
  readonly size: number;
  /** Executes the held object. Its description carries no lease, so that a child may inherit it. */
  readonly fd: number;
  readonly readFd: number;
  /** Under a read lease. */
  readonly leaseFd?: number;
  /** The bytes cannot change at all: sealed, or refused by the kernel. */
  readonly immutable: boolean;
  /** Read when the digest was taken. */
  readonly baseline: BigIntStats;
  /** A path that must go on naming the held object, and what would see it name another one for a while. */
  readonly path?: string;
  readonly watch?: PathWatch;
  release(): void;
}

export type Tried = { readonly hold: Hold } | { readonly passedOver: string };

/** Size, mtime and ctime are the only signs of `open(O_RDONLY | O_TRUNC)`, which empties a file past its lease. */
export function compareStats(before: BigIntStats, after: BigIntStats): 'same' | 'attributes' | 'content' {
  if (before.size !== after.size || before.mtimeNs !== after.mtimeNs) return 'content';
  return before.ctimeNs === after.ctimeNs ? 'same' : 'attributes';
}

/**
 * Looks whether a hold still says what it said. Cheap unless only times moved (chmod, link, utimes): then the digest is
 * taken again. A new mtime alone is no sign under a lease: to put bytes back, a writer would have had to break it.
 */
export function watchIntegrity(hold: Hold): () => boolean {
  let baseline = hold.baseline;
  return () => {
    if (hold.path !== undefined && !names(hold.path, hold)) return false;
    if (hold.immutable) return true;
    if (hold.leaseFd !== undefined && !leaseHolds(hold.leaseFd)) return false;
    const now = fstatSync(hold.readFd, { bigint: true });
    const difference = compareStats(baseline, now);
    if (difference === 'content' && (hold.leaseFd === undefined || now.size !== baseline.size)) return false;
    if (difference !== 'same' && digestFdNow(hold.readFd).sha256 !== hold.sha256) return false;
    baseline = now;
    return true;
  };
}

function names(path: string, hold: Hold): boolean {
  try {
    const named = statSync(path, { bigint: true });
    return named.dev === hold.baseline.dev && named.ino === hold.baseline.ino;
  } catch {
    return false;
  }
}

import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { type BindingAttempt, type BindingMethod, errnoOf, type ProgramFile } from '../../../contract/index.ts';
import { refused } from '../../problem.ts';
import { digestFd } from '../digest.ts';
import { classify, type FileKind } from '../elf.ts';
import { filesystemOf } from '../filesystem.ts';
import { unwatchLease, watchLease } from '../leases.ts';
import type { Found } from '../lookup.ts';
import { holdByCopy } from './cas.ts';
import { type Hold, type Source, type Tried, watchIntegrity } from './hold.ts';
import { holdByLease } from './lease.ts';
import { holdByMemfd } from './memfd.ts';
import { holdByVerity } from './verity.ts';

/**
 * Threat: the file is rewritten, replaced or emptied between its digest and the end of the process that came from it.
 * The methods are tried in the policy's order; the first that makes the bytes immutable, or tells us before they
 * change, is used, and why the ones before were not is recorded.
 */
export interface Pinned {
  readonly facts: ProgramFile;
  readonly found: Found;
  /** Executes the pinned bytes. */
  readonly fd: number;
  readonly readFd: number;
  /** Device and inode of the pinned bytes: the copy's, where there is one. */
  readonly identity: { readonly dev: bigint; readonly ino: bigint };
  readonly kind: FileKind;
  readonly unbound: boolean;
  /** False when the bytes, or what its path names, are not what was digested. */
  intact(): boolean;
  /** Calls once if a writer breaks the lease, from then to `release`. */
  onBreak(broken: () => void): void;
  release(): void;
}

export interface PinOptions {
  readonly requested: string;
  readonly order: readonly BindingMethod[];
  readonly programsDirectory: string;
}

const METHODS: Record<BindingMethod, (source: Source) => Promise<Tried>> = {
  'fs-verity': holdByVerity,
  lease: holdByLease,
  'cas-lease': holdByCopy,
  memfd: holdByMemfd,
  none: holdNothing,
};
/** An interpreter opens its script by path, so only what holds the file itself counts. */
const FOR_SCRIPTS: ReadonlySet<BindingMethod> = new Set(['fs-verity', 'lease', 'none']);

/** Takes `found.fd` over: it is closed by `release`, or before this throws. */
export async function pin(found: Found, options: PinOptions): Promise<Pinned> {
  let readFd: number | undefined;
  try {
    readFd = openForReading(found);
    const kind = classify(readFd);
    const source = {
      found,
      readFd,
      filesystem: filesystemOf(readFd),
      kind,
      programsDirectory: options.programsDirectory,
    };
    const { hold, attempts } = await firstHold(source, options);
    if (classify(hold.readFd).kind !== kind.kind) {
      hold.release();
      throw changedMeanwhile(found);
    }
    return pinned(source, hold, attempts, options.requested);
  } catch (error) {
    closeSync(found.fd);
    if (readFd !== undefined) closeSync(readFd);
    throw error;
  }
}

async function firstHold(source: Source, options: PinOptions): Promise<{ hold: Hold; attempts: BindingAttempt[] }> {
  const attempts: BindingAttempt[] = [];
  for (const method of options.order) {
    const byPath = source.kind.kind === 'script' && !FOR_SCRIPTS.has(method);
    const tried = byPath
      ? { passedOver: 'an interpreter reads a script by its own path' }
      : await METHODS[method](source);
    if ('hold' in tried) return { hold: tried.hold, attempts: [...attempts, { method, outcome: 'used' }] };
    attempts.push({ method, outcome: 'passed-over', reason: tried.passedOver });
  }
  const reasons = attempts.map(({ method, reason }) => `${method}: ${reason}`).join('; ');
  throw refused(
    'BINDING_REFUSED',
    `${JSON.stringify(source.found.path)} could not be bound (${reasons || 'no method is permitted'}).`,
    {
      where: '/executable/binding',
      next: 'Permit another binding method in the policy; `none` runs it without proof and marks it UNBOUND_EXECUTABLE.',
    },
  );
}

function pinned(source: Source, hold: Hold, attempts: BindingAttempt[], requested: string): Pinned {
  const { found, kind } = source;
  const { dev, ino } = fstatSync(source.readFd, { bigint: true });
  const intact = watchIntegrity(kind.kind === 'script' ? { ...hold, path: found.reachedAs } : hold);
  let released = false;
  return {
    facts: {
      requested,
      path: found.absolutePath,
      kind: kind.kind,
      sha256: hold.sha256,
      size: hold.size,
      device: `${dev}`,
      inode: `${ino}`,
      binding: { method: hold.method, filesystem: hold.filesystem, attempts },
    },
    found,
    fd: hold.fd,
    readFd: hold.readFd,
    identity: hold.baseline,
    kind,
    unbound: hold.method === 'none',
    intact,
    onBreak(broken) {
      if (hold.leaseFd !== undefined) watchLease(hold.leaseFd, broken);
    },
    release() {
      if (released) return;
      released = true;
      if (hold.leaseFd !== undefined) unwatchLease(hold.leaseFd);
      hold.release();
      closeSync(source.readFd);
      closeSync(found.fd);
    },
  };
}

async function holdNothing({ found, readFd, filesystem }: Source): Promise<Tried> {
  const baseline = fstatSync(readFd, { bigint: true });
  const { sha256, size } = await digestFd(readFd);
  return {
    hold: { method: 'none', filesystem, sha256, size, fd: found.fd, readFd, immutable: false, baseline, release() {} },
  };
}

/** Through the descriptor, so that it is the same file. What cannot be read could be a script: it is never handed to the kernel. */
function openForReading(found: Found): number {
  try {
    return openSync(`/proc/self/fd/${found.fd}`, constants.O_RDONLY);
  } catch (error) {
    throw refused(
      'BINDING_REFUSED',
      `${JSON.stringify(found.path)} may be executed but not read, so nobody could say what ran.`,
      {
        where: '/executable',
        next: 'Give it read permission.',
        ...(errnoOf(error) ? { errno: errnoOf(error) ?? '' } : {}),
      },
    );
  }
}

function changedMeanwhile(found: Found): Error {
  return refused('BINDING_REFUSED', `${JSON.stringify(found.path)} changed while it was being bound.`, {
    where: '/executable',
    next: 'Run the command again when nothing rewrites the file.',
  });
}

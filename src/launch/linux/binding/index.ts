import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { type BindingAttempt, type BindingMethod, errnoOf, type ProgramFile } from '../../../contract/index.ts';
import { refused } from '../../problem.ts';
import { digestFd } from '../digest.ts';
import { classify, type FileKind } from '../elf.ts';
import { filesystemOf } from '../filesystem.ts';
import { unwatchLease, watchLease } from '../leases.ts';
import type { Found } from '../lookup.ts';
import { type Moment, type PathWatch, type Watched, type WatchState, watchPath } from '../script/watch.ts';
import { holdByCopy } from './cas.ts';
import { type Hold, type Source, type Tried, watchIntegrity } from './hold.ts';
import { holdByLease } from './lease.ts';
import { holdByMemfd } from './memfd.ts';
import { holdByOwner } from './owner.ts';
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
  readonly mayBeUnbound: boolean;
  /** Whether the bytes, and what its path names, are and have been what was digested. */
  state(moment: Moment): WatchState;
  /** Calls when a writer breaks the lease or the path comes to name another file, from then to `release`. */
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
  'root-owned': holdByOwner,
  'cas-lease': holdByCopy,
  memfd: holdByMemfd,
  none: holdNothing,
};
/** An interpreter opens its script by path, so only what holds the file itself counts. */
const FOR_SCRIPTS: ReadonlySet<BindingMethod> = new Set(['fs-verity', 'lease', 'root-owned', 'none']);

/** Takes `found.fd` over: it is closed by `release`, or before this throws. */
export async function pin(found: Found, options: PinOptions): Promise<Pinned> {
  let readFd: number | undefined;
  let watch: PathWatch | undefined;
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
    // In place before the digest, so that it covers all the time in which the digest is believed.
    const watched = kind.kind === 'script' && options.order.some(watches) ? watchScript(found) : undefined;
    if (watched && 'watch' in watched) watch = watched.watch;
    const { hold, attempts } = await firstHold(source, options, watched);
    if (classify(hold.readFd).kind !== kind.kind) {
      hold.release();
      throw changedMeanwhile(found);
    }
    // Unbound files are judged by what they are at the end, not by what happened in between.
    if (hold.method === 'none') watch?.release();
    return pinned(source, watch && hold.method !== 'none' ? { ...hold, watch } : hold, attempts, options);
  } catch (error) {
    watch?.release();
    closeSync(found.fd);
    if (readFd !== undefined) closeSync(readFd);
    throw error;
  }
}

function watches(method: BindingMethod): boolean {
  return FOR_SCRIPTS.has(method) && method !== 'none';
}

function watchScript(found: Found): Watched {
  const watched = watchPath({ path: found.path, fd: found.fd, identity: found.stats }, found.directory);
  if ('elsewhere' in watched) throw changedMeanwhile(found);
  return watched;
}

async function firstHold(
  source: Source,
  options: PinOptions,
  watched: Watched | undefined,
): Promise<{ hold: Hold; attempts: BindingAttempt[] }> {
  const attempts: BindingAttempt[] = [];
  for (const method of options.order) {
    const obstacle = source.kind.kind === 'script' ? scriptObstacle(method, watched) : undefined;
    const tried = obstacle === undefined ? await METHODS[method](source) : { passedOver: obstacle };
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

/** Bytes that cannot change are not enough: the path has to be watched as well. */
function scriptObstacle(method: BindingMethod, watched: Watched | undefined): string | undefined {
  if (!FOR_SCRIPTS.has(method)) return 'an interpreter reads a script by its own path';
  return watches(method) && watched && 'unwatchable' in watched ? watched.unwatchable : undefined;
}

function pinned(source: Source, hold: Hold, attempts: BindingAttempt[], options: PinOptions): Pinned {
  const { found, kind } = source;
  const { dev, ino } = fstatSync(source.readFd, { bigint: true });
  const { watch } = hold;
  const intact = watchIntegrity(kind.kind === 'script' ? { ...hold, path: found.reachedAs } : hold);
  let released = false;
  return {
    facts: {
      requested: options.requested,
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
    mayBeUnbound: options.order.includes('none'),
    // The queue last: it tells of everything up to now, the other looks only of their moment.
    state: (moment) =>
      intact()
        ? (watch?.state(moment) ?? { kind: 'same' })
        : { kind: 'changed', why: 'it is not the file that was digested' },
    onBreak(broken) {
      if (hold.leaseFd !== undefined) watchLease(hold.leaseFd, broken);
      watch?.onChange(broken);
    },
    release() {
      if (released) return;
      released = true;
      if (hold.leaseFd !== undefined) unwatchLease(hold.leaseFd);
      watch?.release();
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

import { fstatSync, lstatSync } from 'node:fs';
import { basename, dirname, isAbsolute } from 'node:path';
import { errnoOf } from '../../../contract/index.ts';
import type { BoundDirectory } from '../cwd.ts';
import { filesystemAt, watchObstacle } from '../filesystem.ts';
import { type Observer, readQueue, unwatch, watchContent, watchName } from '../inotify.ts';
import { mountsOn } from '../mounts.ts';
import { PathWalk } from './walk.ts';

/**
 * Threat: an interpreter opens its script by name, late, and we hold only the file that the name meant before. A link
 * or a directory of the path is swapped after our last look and put back before the next one; in between the
 * interpreter reads other bytes, and every comparison of identities says that nothing happened.
 *
 * So every name that the kernel looks up on the way, links' targets included, is watched in its directory. The order
 * leaves no gap: each watch is in place before its name is looked up, the walk has to end at the pinned file, and the
 * queue is read right before the spawn and once more after the end. Whatever went elsewhere in between is in it.
 *
 * Only the names in use count. Who else writes in these directories, or beside the script, is nobody's business; nor
 * are chmod, chown, a link or times set anew, which change neither the bytes nor what a name means (`hold.ts` looks at
 * the bytes again then). Where a watch could miss something the script is unbound, and says why. Not seen: a mount that
 * root puts over a directory and takes away again.
 */
export interface PathWatch {
  /** Reads what has happened up to now, at the end also from the mount table. `lost`: something may have gone unseen. */
  state(moment: Moment): WatchState;
  /** Calls once, as soon as a change is seen. */
  onChange(changed: () => void): void;
  release(): void;
}

/** In between the file's identity alone speaks for the mounts: the table is long, and the start does not wait for it. */
export type Moment = 'between' | 'end';

export type WatchState = { readonly kind: 'same' } | { readonly kind: 'changed' | 'lost'; readonly why: string };

export interface WatchRequest {
  readonly path: string;
  /** The pinned file: its descriptor, and what the path has to lead to. */
  readonly fd: number;
  readonly identity: { readonly dev: bigint; readonly ino: bigint };
}

export type Watched = { readonly watch: PathWatch } | { readonly unwatchable: string } | { readonly elsewhere: true };

/** Everything that the path passes, a relative one from the directory's own path down. */
export function watchPath(request: WatchRequest, directory: BoundDirectory): Watched {
  return watched(request, (watch) => {
    const walk = new PathWalk((parent, name) => watch.name(parent, name));
    const start = isAbsolute(request.path) ? undefined : walk.follow(directory.resolved);
    if (start && !same(start, fstatSync(directory.fd, { bigint: true }))) return undefined;
    const end = walk.follow(request.path);
    watch.content(`/proc/self/fd/${request.fd}`);
    watch.mounts([...walk.passed]);
    return end;
  });
}

/**
 * The last directory alone, for a copy in a directory of ours. It is executed through its descriptor whatever its path
 * means; only a program that starts itself anew by name would be led elsewhere.
 */
export function watchEntry(request: WatchRequest): Watched {
  return watched(request, (watch) => {
    watch.name(dirname(request.path), basename(request.path));
    return lstatSync(request.path, { bigint: true });
  });
}

type Identity = WatchRequest['identity'];

/** `place` puts the watches, each before its look, and says where the path ended. */
function watched({ identity }: WatchRequest, place: (watch: InotifyWatch) => Identity | undefined): Watched {
  // What the queue holds of earlier launches is theirs.
  readQueue();
  const watch = new InotifyWatch();
  try {
    const end = place(watch);
    if (end && same(end, identity)) return { watch };
    watch.release();
    return { elsewhere: true };
  } catch (error) {
    watch.release();
    if (error instanceof Unwatchable) return { unwatchable: error.message };
    return { unwatchable: `its path could not be followed (${errnoOf(error) ?? String(error)})` };
  }
}

function same(one: Identity, other: Identity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

class Unwatchable extends Error {}

class InotifyWatch implements PathWatch, Observer {
  private seen: WatchState = { kind: 'same' };
  private paths: readonly string[] = [];
  private mountsBefore = '';
  private callback: (() => void) | undefined;

  name(directory: string, name: string): void {
    const obstacle = watchObstacle(filesystemAt(directory)) ?? foldingObstacle(directory, name);
    if (obstacle !== undefined) throw new Unwatchable(`${JSON.stringify(directory)}: ${obstacle}`);
    const errno = watchName(directory, name, this);
    if (errno !== undefined)
      throw new Unwatchable(`${JSON.stringify(directory)} cannot be watched (${meaning(errno)})`);
  }

  content(path: string): void {
    const errno = watchContent(path, this);
    if (errno !== undefined) throw new Unwatchable(`the file cannot be watched (${meaning(errno)})`);
  }

  mounts(paths: readonly string[]): void {
    this.paths = paths;
    this.mountsBefore = this.mountsNow();
  }

  private mountsNow(): string {
    return this.paths.length === 0 ? '' : mountsOn(this.paths);
  }

  state(moment: Moment): WatchState {
    if (moment === 'end') this.compareMounts();
    readQueue();
    return this.seen;
  }

  private compareMounts(): void {
    try {
      if (this.mountsNow() !== this.mountsBefore) this.changed('something was mounted or unmounted on its path');
    } catch (error) {
      this.lost(`the mount table could not be read (${errnoOf(error) ?? String(error)})`);
    }
  }

  onChange(changed: () => void): void {
    this.callback = changed;
  }

  changed(why: string): void {
    if (this.seen.kind === 'changed') return;
    this.seen = { kind: 'changed', why };
    this.callback?.();
  }

  lost(why: string): void {
    if (this.seen.kind === 'same') this.seen = { kind: 'lost', why };
  }

  release(): void {
    this.callback = undefined;
    unwatch(this);
  }
}

/**
 * Where a directory takes `TOOL` for `tool` (ext4 and tmpfs with casefold, vfat), an event can come under a name that we
 * do not know. A soft hyphen is what such directories ignore in names without letters.
 */
function foldingObstacle(directory: string, name: string): string | undefined {
  const upper = name.toUpperCase();
  const other = upper !== name ? upper : name.toLowerCase() !== name ? name.toLowerCase() : `${name}\u00ad`;
  const prefix = directory === '/' ? '' : directory;
  const stats = lstatSync(`${prefix}/${other}`, { bigint: true, throwIfNoEntry: false });
  if (!stats) return undefined;
  const named = lstatSync(`${prefix}/${name}`, { bigint: true, throwIfNoEntry: false });
  const same = named?.dev === stats.dev && named.ino === stats.ino;
  return same ? `${JSON.stringify(other)} and ${JSON.stringify(name)} are the same there` : undefined;
}

function meaning(errno: string): string {
  switch (errno) {
    case 'EACCES':
      return 'it may not be read';
    case 'ENOSPC':
      return 'the limit fs.inotify.max_user_watches is reached';
    case 'EMFILE':
      return 'the limit fs.inotify.max_user_instances is reached, or that of open files';
    default:
      return errno;
  }
}

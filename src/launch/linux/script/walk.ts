import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs';

/**
 * A path taken apart as the kernel takes it: component by component, every symbolic link's target in its turn, from `/`
 * down. `visit` is told each directory and the name looked up in it, *before* the look. So when visiting means watching,
 * whatever changes one of the answers afterwards leaves an event, and the walk itself needs no second look.
 */
export class PathWalk {
  /** Every object passed, `/` first, by its path without links: where a mount would matter. */
  readonly passed = new Set<string>(['/']);
  private readonly visit: (directory: string, name: string) => void;
  /** Real names from `/` to where the walk stands; none of them a link. */
  private at: string[] = [];
  private linksLeft = MOST_LINKS;

  constructor(visit: (directory: string, name: string) => void) {
    this.visit = visit;
  }

  /** A relative path goes on from where the last one ended. Throws what `lstat` and `readlink` throw, or ELOOP. */
  follow(path: string): BigIntStats {
    const ahead = this.enter(path, []);
    for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
      if (name === '..') this.at.pop();
      else if (name !== '' && name !== '.') this.step(name, ahead);
    }
    return lstatSync(pathOf(this.at), { bigint: true });
  }

  private step(name: string, ahead: string[]): void {
    const path = pathOf([...this.at, name]);
    if (!this.passed.has(path)) this.visit(pathOf(this.at), name);
    if (!this.passed.has(path) && lstatSync(path).isSymbolicLink()) {
      this.followLink(path, ahead);
      return;
    }
    this.passed.add(path);
    this.at.push(name);
  }

  private followLink(path: string, ahead: string[]): void {
    if (this.linksLeft-- === 0) throw Object.assign(new Error(`ELOOP: ${path}`), { code: 'ELOOP' });
    this.enter(readlinkSync(path), ahead);
  }

  /** Puts a path's components on top of those still ahead, the next one last. */
  private enter(path: string, ahead: string[]): string[] {
    if (path.startsWith('/')) this.at = [];
    ahead.push(...path.split('/').reverse());
    return ahead;
  }
}

/** The kernel's MAXSYMLINKS. */
const MOST_LINKS = 40;

function pathOf(names: readonly string[]): string {
  return `/${names.join('/')}`;
}

import { readSync } from 'node:fs';
import { errnoOf } from '../../contract/index.ts';
import { FIONREAD, IN, INOTIFY_EVENT } from './abi.ts';
import { inotifyAddWatch, inotifyInit, inotifyRemoveWatch, ioctl, lastErrno, orThrow } from './libc.ts';

/**
 * Raw inotify, one instance for the whole process: closing one that has watches waits for a grace period of the kernel
 * (up to 16 ms measured), and a user has 128 of them. Watches are given up one by one instead, which waits for nothing.
 *
 * `fs.watch` would not do: it tells of events when the event loop comes to it, in no order with anything else, and keeps
 * quiet about an overflow. Here `readQueue` reads at the very moment that an answer is needed, and every few milliseconds
 * in between: a change ends the command early, and the queue does not overflow where a lot is going on.
 */
export interface Observer {
  /** One of its names means something else, or its file was written. */
  changed(what: string): void;
  /** From here on changes may go unseen. */
  lost(why: string): void;
}

interface Watch {
  readonly path: string;
  /** The names in this directory that concern each; none for a file. */
  readonly observers: Map<Observer, Set<string>>;
}

const watches = new Map<number, Watch>();
let queue: number | undefined;

const RENAMES = IN.movedFrom | IN.movedTo | IN.create | IN.delete;
const OF_THE_OBJECT_ITSELF = IN.moveSelf | IN.deleteSelf;
const DIRECTORY = RENAMES | OF_THE_OBJECT_ITSELF | IN.onlyDirectory | IN.dontFollow;
const LOST = IN.unmount | IN.ignored;

/** Tells `observer` when `name` in this directory comes to mean something else. Returns the errno of a refusal. */
export function watchName(directory: string, name: string, observer: Observer): string | undefined {
  const watch = add(directory, DIRECTORY, observer);
  if (typeof watch === 'string') return watch;
  watch.add(name);
  return undefined;
}

/** Writes and truncations, whatever path they come by. */
export function watchContent(path: string, observer: Observer): string | undefined {
  const watch = add(path, IN.modify, observer);
  return typeof watch === 'string' ? watch : undefined;
}

function add(path: string, mask: number, observer: Observer): Set<string> | string {
  if (queue === undefined) {
    const fd = inotifyInit(IN.nonBlock | IN.cloexec);
    if (fd < 0) return lastErrno();
    queue = fd;
  }
  const wd = inotifyAddWatch(queue, path, mask);
  if (wd < 0) return lastErrno();
  const watch = watches.get(wd) ?? { path, observers: new Map() };
  watches.set(wd, watch);
  const names = watch.observers.get(observer) ?? new Set();
  watch.observers.set(observer, names);
  reading ??= setInterval(readQueue, READ_EVERY_MS).unref();
  return names;
}

export function unwatch(observer: Observer): void {
  for (const [wd, { observers }] of watches) {
    if (!observers.delete(observer) || observers.size > 0) continue;
    watches.delete(wd);
    if (queue !== undefined) inotifyRemoveWatch(queue, wd);
  }
  if (watches.size > 0) return;
  clearInterval(reading);
  reading = undefined;
}

/**
 * A readable handle would be the natural way, but libuv takes none of this kind, and the kernel's SIGIO comes once per
 * event: a busy directory fills the pipe in which libuv keeps signals, and a SIGCHLD that finds it full is lost.
 */
const READ_EVERY_MS = 20;
let reading: NodeJS.Timeout | undefined;

const READ_BYTES = 64 * 1024;
let buffer: Buffer | undefined;
const waiting = Buffer.alloc(4);

/** Everything that happened before the call has been told when it returns; who goes on making events does not keep us. */
export function readQueue(): void {
  if (queue === undefined) return;
  try {
    orThrow(ioctl(queue, FIONREAD, waiting), 'ioctl(FIONREAD)');
    for (let left = waiting.readInt32LE(0); left > 0; ) {
      buffer ??= Buffer.allocUnsafeSlow(READ_BYTES);
      const count = readSync(queue, buffer);
      left -= count;
      tell(buffer.subarray(0, count));
    }
  } catch (error) {
    loseAll(`the queue could not be read (${errnoOf(error) ?? String(error)})`);
  }
}

function tell(events: Buffer): void {
  for (let at = 0; at < events.length; ) {
    const length = events.readUInt32LE(at + INOTIFY_EVENT.lengthOffset);
    const end = at + INOTIFY_EVENT.headerSize + length;
    const mask = events.readUInt32LE(at + INOTIFY_EVENT.maskOffset);
    if (mask & IN.queueOverflow) loseAll('more happened in its directories than the kernel keeps note of');
    else {
      const watch = watches.get(events.readInt32LE(at + INOTIFY_EVENT.wdOffset));
      if (watch) dispatch(watch, mask, length === 0 ? '' : nameIn(events.subarray(end - length, end)));
    }
    at = end;
  }
}

function nameIn(padded: Buffer): string {
  return padded.toString('utf8', 0, padded.indexOf(0));
}

function dispatch(watch: Watch, mask: number, name: string): void {
  for (const [observer, names] of [...watch.observers]) {
    if (mask & LOST) observer.lost(`${JSON.stringify(watch.path)} was unmounted or is watched no longer`);
    else if (mask & IN.modify) observer.changed('it was written or cut off');
    else if (mask & OF_THE_OBJECT_ITSELF) observer.changed(`${JSON.stringify(watch.path)} was moved or deleted`);
    else if (names.has(name))
      observer.changed(`${JSON.stringify(name)} in ${JSON.stringify(watch.path)} was ${done(mask)}`);
  }
}

function done(mask: number): string {
  if (mask & IN.create) return 'made anew';
  return mask & IN.delete ? 'deleted' : 'renamed';
}

function loseAll(why: string): void {
  const observers = new Set([...watches.values()].flatMap((watch) => [...watch.observers.keys()]));
  for (const observer of observers) observer.lost(why);
}

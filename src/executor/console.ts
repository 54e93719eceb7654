import { constants, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';

/** One of the two places where a command's redacted output is shown while it runs. */
export interface ConsoleStream {
  /** False asks to pause until `onDrain`. */
  write(bytes: Uint8Array): boolean;
  onDrain(listener: () => void): void;
  /** Nobody reads any more. */
  onClosed(listener: () => void): void;
  /** Resolves when everything was handed over, or nobody reads any more. */
  flush(): Promise<void>;
}

/**
 * Our own stdout or stderr. Node writes to a pipe synchronously, and a reader that pauses would then stop our timers and
 * signals too. A pipe is therefore opened a second time, non-blocking, which leaves the description that we share with
 * others as it is.
 */
export function consoleStream(fd: 1 | 2): ConsoleStream {
  const stream = reopenedPipe(fd) ?? (fd === 1 ? process.stdout : process.stderr);
  return overWritable(stream);
}

export function overWritable(stream: Writable): ConsoleStream {
  let closed = false;
  const closedListeners: Array<() => void> = [];
  const markClosed = (): void => {
    closed = true;
    for (const listener of closedListeners) listener();
  };
  stream.on('error', markClosed);
  return {
    write: (bytes) => closed || stream.write(bytes),
    onDrain: (listener) => stream.on('drain', listener),
    onClosed(listener) {
      closedListeners.push(listener);
    },
    flush: () =>
      new Promise((resolve) => {
        if (closed) return resolve();
        closedListeners.push(resolve);
        stream.write(new Uint8Array(0), () => resolve());
      }),
  };
}

function reopenedPipe(fd: number): Writable | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    if (!fstatSync(fd).isFIFO()) return undefined;
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
    return new Socket({ fd: own, readable: false, writable: true });
  } catch {
    return undefined;
  }
}

import { readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { ByteSink, ByteSource } from '../types.ts';

const READ_BYTES = 64 * 1024;
const LARGEST_BACKLOG_BYTES = 1024 * 1024;

/** One of child_process's own streams behind our interface. */
export class StreamSource implements ByteSource {
  private readonly stream: Readable;
  private sink: ByteSink | undefined;
  private state: 'open' | 'ended' | 'closed' = 'open';

  constructor(stream: Readable) {
    this.stream = stream;
  }

  start(sink: ByteSink): void {
    if (this.state !== 'open' || this.sink) return;
    this.sink = sink;
    this.stream.on('data', (bytes: Buffer) => {
      if (this.state === 'open' && !sink.data(bytes)) this.stream.pause();
    });
    this.stream.once('end', () => this.end('eof'));
    this.stream.once('error', (error) => this.end('read-error', error));
  }

  resume(): void {
    if (this.state === 'open') this.stream.resume();
  }

  drainAndClose(): 'eof' | 'open' {
    if (this.state !== 'open') return 'eof';
    const { sink, stream } = this;
    if (sink) {
      stream.pause();
      stream.removeAllListeners('data');
      for (let bytes: Buffer | null = stream.read(); bytes !== null; bytes = stream.read()) sink.data(bytes);
    }
    const end = stream.readableEnded || (sink !== undefined && drainDescriptor(stream, sink));
    this.close();
    return end ? 'eof' : 'open';
  }

  close(): void {
    if (this.state !== 'closed') this.stream.destroy();
    this.state = 'closed';
  }

  private end(how: 'eof' | 'read-error', error?: unknown): void {
    if (this.state !== 'open') return;
    this.state = 'ended';
    this.sink?.end(how, error);
  }
}

/** What the kernel still holds, where the handle lets us at its (non-blocking) descriptor. True at the end of the stream. */
function drainDescriptor(stream: Readable, sink: ByteSink): boolean {
  const fd = descriptorOf(stream);
  if (fd === undefined) return false;
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  try {
    for (let total = 0; total <= LARGEST_BACKLOG_BYTES; ) {
      const count = readSync(fd, buffer);
      if (count === 0) return true;
      sink.data(buffer.subarray(0, count));
      total += count;
    }
  } catch {
    // EAGAIN: empty for now, and somebody still holds the other end.
  }
  return false;
}

/** libuv's handle tells its descriptor on POSIX, through a property that Node does not document. */
function descriptorOf(stream: object): number | undefined {
  if (!('_handle' in stream) || typeof stream._handle !== 'object' || stream._handle === null) return undefined;
  const handle = stream._handle;
  return 'fd' in handle && typeof handle.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined;
}

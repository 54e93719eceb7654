import { closeSync, fstatSync, readSync } from 'node:fs';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { errnoOf } from '../../contract/index.ts';
import type { ByteSink, ByteSource } from '../types.ts';
import { FCNTL, O_NONBLOCK } from './abi.ts';
import { fcntl } from './libc.ts';

const READ_BYTES = 64 * 1024;
/** Where the kernel does not tell the pipe's size: the most an ordinary user may set. */
const LARGEST_PIPE_BYTES = 1024 * 1024;

/** The read end of a pipe, read by libuv into one buffer of ours, so that no byte is copied before the sink sees it. */
export class PipeSource implements ByteSource {
  readonly inode: bigint;
  private readonly fd: number;
  private socket: Socket | undefined;
  private sink: ByteSink | undefined;
  private state: 'open' | 'ended' | 'closed' = 'open';

  constructor(fd: number) {
    this.fd = fd;
    this.inode = fstatSync(fd, { bigint: true }).ino;
  }

  get started(): boolean {
    return this.socket !== undefined;
  }

  start(sink: ByteSink): void {
    if (this.state !== 'open' || this.socket) return;
    this.sink = sink;
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const callback = (count: number, bytes: Uint8Array): boolean => {
      return this.state === 'open' ? sink.data(bytes.subarray(0, count)) : false;
    };
    const options: SocketConstructorOpts & ConnectOpts = {
      fd: this.fd,
      readable: true,
      writable: false,
      onread: { buffer, callback },
    };
    const socket = new Socket(options);
    socket.once('end', () => this.end('eof'));
    socket.once('error', (error) => this.end('read-error', error));
    this.socket = socket;
  }

  resume(): void {
    if (this.state === 'open') this.socket?.resume();
  }

  /** libuv keeps nothing back: what it has read, the sink has had. So the pipe can be read here directly. */
  drainAndClose(): 'eof' | 'open' {
    if (this.state !== 'open') return 'eof';
    const sink = this.sink;
    try {
      return sink ? this.drainInto(sink) : 'open';
    } finally {
      this.close();
    }
  }

  /** At most one pipe's fill: a writer that goes on writing does not keep us. */
  private drainInto(sink: ByteSink): 'eof' | 'open' {
    fcntl(this.fd, FCNTL.F_SETFL, fcntl(this.fd, FCNTL.F_GETFL, 0) | O_NONBLOCK);
    const size = fcntl(this.fd, FCNTL.F_GETPIPE_SZ, 0);
    const limit = size > 0 ? size : LARGEST_PIPE_BYTES;
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (let total = 0; total <= limit; ) {
      const count = this.readNow(buffer);
      if (count === 0) return 'eof';
      if (count === undefined) return 'open';
      sink.data(buffer.subarray(0, count));
      total += count;
    }
    return 'open';
  }

  private readNow(buffer: Uint8Array): number | undefined {
    try {
      return readSync(this.fd, buffer);
    } catch (error) {
      if (errnoOf(error) === 'EAGAIN') return undefined;
      throw error;
    }
  }

  close(): void {
    if (this.state === 'closed') return;
    const ended = this.state === 'ended';
    this.state = 'closed';
    if (this.socket) this.socket.destroy();
    else if (!ended) closeSync(this.fd);
  }

  private end(how: 'eof' | 'read-error', error?: unknown): void {
    if (this.state !== 'open') return;
    this.state = 'ended';
    this.socket?.destroy();
    this.sink?.end(how, error);
  }
}

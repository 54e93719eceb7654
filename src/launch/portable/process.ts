import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { errnoOf, type Flag, type Gap, type Process, ReceiptsError, type Sandbox } from '../../contract/index.ts';
import type { Exit, Running } from '../types.ts';
import { StreamSource } from './stream.ts';

const HAS_GROUPS = process.platform !== 'win32';

/** A child of child_process, in its own group on POSIX. What only the kernel could tell stays null. */
export class PortableProcess implements Running {
  readonly pid: number;
  readonly startedNs: bigint;
  readonly stdout: StreamSource;
  readonly stderr: StreamSource;
  readonly exit: Promise<Exit>;
  private readonly child: ChildProcessByStdio<null, Readable, Readable>;
  private readonly flags = new Set<Flag>();

  constructor(child: ChildProcessByStdio<null, Readable, Readable>, pid: number) {
    this.child = child;
    this.pid = pid;
    this.startedNs = process.hrtime.bigint();
    this.stdout = new StreamSource(child.stdout);
    this.stderr = new StreamSource(child.stderr);
    this.exit = new Promise((resolve) => {
      child.once('exit', (exitCode, signal) => resolve(exitOf(exitCode, signal)));
    });
  }

  process(): Process {
    return { pid: this.pid, startTimeTicks: null, processGroup: HAS_GROUPS ? this.pid : null, rusage: null };
  }

  sandbox(): Sandbox {
    return { profile: 'none', observed: { noNewPrivs: null, seccomp: null, capEff: null, landlock: 'none' } };
  }

  signal(name: Parameters<Running['signal']>[0]): boolean {
    try {
      return HAS_GROUPS ? process.kill(-this.pid, name) : this.child.kill(name);
    } catch (error) {
      if (errnoOf(error) === 'EPERM') this.flags.add('UNKILLABLE');
      return false;
    }
  }

  holders(): [] {
    return [];
  }

  finish(): { readonly flags: readonly Flag[]; readonly gaps: readonly Gap[] } {
    const fields = ['/process/startTimeTicks', '/process/rusage', '/sandbox/observed'];
    if (!HAS_GROUPS) fields.push('/process/processGroup');
    return { flags: [...this.flags], gaps: fields.map((field) => ({ field, reason: 'not-observed' })) };
  }
}

function exitOf(exitCode: number | null, signal: NodeJS.Signals | null): Exit {
  const monotonicNs = process.hrtime.bigint();
  if (signal !== null) return { kind: 'signaled', exitCode: null, signal, coreDumped: null, monotonicNs };
  if (exitCode === null) throw new ReceiptsError('INTERNAL', 'a process ended with neither exit code nor signal');
  return { kind: 'exited', exitCode, signal: null, coreDumped: false, monotonicNs };
}

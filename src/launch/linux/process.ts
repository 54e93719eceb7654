import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { errnoOf, type Flag, type Gap, type Process, type Sandbox } from '../../contract/index.ts';
import type { Exit, Running, StartOptions } from '../types.ts';
import { SYSCALL } from './abi.ts';
import type { Pinned } from './binding/index.ts';
import { syscall } from './libc.ts';
import { commOf, type FileName, groupHasMembers, observeSandbox, startTimeOf, writersOf } from './proc-files.ts';
import { adopt, type Child, type End } from './reaper.ts';
import type { Spawned } from './spawn.ts';
import { PipeSource } from './stream.ts';
import { type Terminal, wake } from './terminal.ts';

export type ReboundFlag = 'EXECUTABLE_REBOUND' | 'SCRIPT_REBOUND';

export interface Launched {
  readonly spawned: Spawned;
  readonly startedNs: bigint;
  /** Outermost first; the last is what was given to exec. */
  readonly pins: readonly Pinned[];
  readonly terminal: Terminal | undefined;
}

/** A process of ours from its spawn to its end, in its own process group. */
export class LinuxProcess implements Running, Child {
  readonly pid: number;
  readonly pidfd: number;
  readonly startedNs: bigint;
  readonly stdout: PipeSource;
  readonly stderr: PipeSource;
  readonly exit: Promise<Exit>;
  private readonly pins: readonly Pinned[];
  private readonly terminal: Terminal | undefined;
  private readonly options: StartOptions;
  private readonly flags = new Set<Flag>();
  private readonly gaps: Gap[] = [];
  /** What exec named was not what was pinned; by whose doing is not yet known. */
  private otherExecutable = false;
  private seen: { readonly observed: Sandbox['observed']; readonly startTimeTicks: string | null } | undefined;
  private rusage: Process['rusage'] = null;
  private reaped = false;
  private rebound = false;
  private resolveExit: (exit: Exit) => void = () => {};

  constructor({ spawned, startedNs, pins, terminal }: Launched, options: StartOptions) {
    this.pid = spawned.pid;
    this.startedNs = startedNs;
    this.pins = pins;
    this.options = options;
    this.terminal = terminal;
    this.terminal?.give(this.pid);
    this.pidfd = syscall.numbers(SYSCALL.pidfdOpen, this.pid, 0, 0, 0);
    this.stdout = new PipeSource(spawned.stdoutFd);
    this.stderr = new PipeSource(spawned.stderrFd);
    this.exit = new Promise((resolve) => {
      this.resolveExit = resolve;
    });
    this.compareExecutable(spawned.executable);
    this.watchPins();
    adopt(this);
  }

  private compareExecutable(running: FileName | undefined): void {
    const pin = this.pins.at(-1);
    if (!pin || (running?.dev === pin.identity.dev && running.ino === pin.identity.ino)) return;
    this.otherExecutable = running !== undefined;
    const detail = running ? 'it had already started another program' : 'it could not be read, or the process was gone';
    this.gaps.push({ field: '/executable', reason: 'exe-link-unreadable', detail });
    setImmediate(() => this.judgeExecutable());
  }

  /**
   * binfmt_misc could have put an interpreter in the executable's place; then exec's `comm` is still the descriptor's
   * number. A program that has itself started another (`sh -c 'exec …'`) has another `comm`. Exec sets it a little
   * later than the executable, so it is asked again of the zombie, which keeps it.
   */
  private judgeExecutable(): void {
    const fd = this.pins.at(-1)?.fd;
    if (this.otherExecutable && commOf(this.pid) === String(fd)) this.changed('EXECUTABLE_REBOUND');
  }

  private watchPins(): void {
    for (const pin of this.pins) pin.onBreak(() => this.changed(flagOf(pin)));
    this.comparePins();
  }

  /** Sees what breaks no lease, `open(O_RDONLY | O_TRUNC)` and a renamed path. Unbound files are only judged at the end. */
  private comparePins(): void {
    for (const pin of this.pins) if (!pin.unbound && pin.state('between').kind === 'changed') this.changed(flagOf(pin));
  }

  /** A writer waits, or has been: the group ends at once, long before the kernel lets the writer through. */
  private changed(flag: ReboundFlag): void {
    this.flags.add(flag);
    if (this.reaped || this.rebound) return;
    this.rebound = true;
    this.signal('SIGKILL');
    queueMicrotask(() => this.options.onRebound?.(flag));
  }

  onTick(): void {
    this.comparePins();
  }

  onZombie(): void {
    this.look();
    this.judgeExecutable();
    this.terminal?.takeBack(this.pid);
  }

  /** Ctrl-Z stopped the command: stop too, so that the shell in front of us gets its prompt, and go on together. */
  onStop(): void {
    const { terminal } = this;
    if (!terminal) return;
    terminal.takeBack(this.pid);
    process.once('SIGCONT', () => {
      terminal.give(this.pid);
      wake(this.pid);
    });
    process.kill(process.pid, 'SIGSTOP');
  }

  onEnd({ exit, rusage }: End): void {
    this.reaped = true;
    this.rusage = rusage;
    if (this.pidfd >= 0) closeSync(this.pidfd);
    this.resolveExit(exit);
  }

  /** Facts that `/proc` tells of a running process and of a zombie alike, read when first asked for and at the latest before reaping. */
  private look(): NonNullable<LinuxProcess['seen']> {
    this.seen ??= { observed: observeSandbox(this.pid), startTimeTicks: startTimeOf(this.pid) };
    return this.seen;
  }

  process(): Process {
    return { pid: this.pid, startTimeTicks: this.look().startTimeTicks, processGroup: this.pid, rusage: this.rusage };
  }

  sandbox(): Sandbox {
    return { profile: 'none', observed: this.look().observed };
  }

  signal(name: Parameters<Running['signal']>[0]): boolean {
    if (this.reaped && !groupHasMembers(this.pid)) return false;
    try {
      process.kill(-this.pid, name);
      return true;
    } catch (error) {
      if (this.signalLeader(name)) return true;
      if (errnoOf(error) === 'EPERM') this.flags.add('UNKILLABLE');
      return false;
    }
  }

  /** For a leader that has left its group. */
  private signalLeader(name: Parameters<Running['signal']>[0]): boolean {
    if (this.reaped || this.pidfd < 0) return false;
    return syscall.numbers(SYSCALL.pidfdSendSignal, this.pidfd, constants.signals[name], 0, 0) === 0;
  }

  /** Streams that nobody ever read. */
  abandonUnread(): void {
    for (const source of [this.stdout, this.stderr]) if (!source.started) source.close();
  }

  holders(stream: 'stdout' | 'stderr'): Array<{ pid: number; comm: string }> {
    return writersOf(this[stream].inode);
  }

  finish(): { readonly flags: readonly Flag[]; readonly gaps: readonly Gap[] } {
    this.pins.forEach((pin, index) => {
      const state = pin.state('end');
      if (state.kind === 'same') return;
      this.flags.add(flagOf(pin));
      const field = index === 0 ? '/executable' : `/interpreters/${index - 1}`;
      if (state.kind === 'lost') this.gaps.push({ field, reason: 'not-observed', detail: state.why });
    });
    return { flags: [...this.flags].sort(), gaps: [...this.gaps, ...this.unknown()] };
  }

  private unknown(): Gap[] {
    const { observed, startTimeTicks } = this.look();
    const facts: Array<readonly [field: string, value: unknown]> = [
      ['/process/startTimeTicks', startTimeTicks],
      ['/process/rusage', this.rusage],
      ['/sandbox/observed/noNewPrivs', observed.noNewPrivs],
      ['/sandbox/observed/seccomp', observed.seccomp],
      ['/sandbox/observed/capEff', observed.capEff],
    ];
    return facts.filter(([, value]) => value === null).map(([field]) => ({ field, reason: 'not-observed' }));
  }
}

function flagOf(pin: Pinned): ReboundFlag {
  return pin.kind.kind === 'elf' ? 'EXECUTABLE_REBOUND' : 'SCRIPT_REBOUND';
}

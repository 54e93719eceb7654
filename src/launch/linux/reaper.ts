import { constants } from 'node:os';
import type { Process } from '../../contract/index.ts';
import type { Exit } from '../types.ts';
import { CHILD_DUMPED, CHILD_EXITED, RUSAGE, SIGINFO, SYSCALL, WAIT } from './abi.ts';
import { syscall } from './libc.ts';

/**
 * One SIGCHLD handler over the children of this launcher alone: each is asked for by its own pidfd, never -1, so that
 * libuv's children stay libuv's and a recycled pid is nobody's. SIGCHLD coalesces, hence all are asked each time.
 */
export interface Child {
  readonly pid: number;
  /** -1 where the kernel has none (before 5.3): an unreaped child's pid is just as good a name. */
  readonly pidfd: number;
  /** It has ended and is still a zombie: the last look at `/proc/<pid>`. */
  onZombie(): void;
  onEnd(end: End): void;
  onStop?(): void;
  /** About once a second while it runs. */
  onTick(): void;
}

export interface End {
  readonly exit: Exit;
  readonly rusage: Process['rusage'];
}

const children = new Set<Child>();
let handlerStands = false;
/** SIGCHLD alone does not keep the event loop alive, and a child may close both pipes and go on. */
let keepAlive: NodeJS.Timeout | undefined;
const TICK_MS = 1000;

/** Before the spawn, so that no SIGCHLD falls into the gap. */
export function awaitChildren(): void {
  if (handlerStands) return;
  handlerStands = true;
  process.on('SIGCHLD', collect);
}

export function adopt(child: Child): void {
  children.add(child);
  keepAlive ??= setInterval(tick, TICK_MS);
  setImmediate(collect);
}

/** libuv drops a signal that finds its pipe full of others: so a SIGCHLD that never came is made up for here. */
function tick(): void {
  for (const child of [...children]) child.onTick();
  collect();
}

function collect(): void {
  for (const child of [...children]) {
    if (hasEnded(child)) reap(child);
    else if (child.onStop && hasStopped(child)) child.onStop();
  }
  if (children.size > 0 || keepAlive === undefined) return;
  clearInterval(keepAlive);
  keepAlive = undefined;
}

const info = Buffer.alloc(SIGINFO.size);
const usage = Buffer.alloc(RUSAGE.size);

/** Leaves the zombie in place. `waitid` answers 0 with pid 0 where nothing has happened. */
function hasEnded(child: Child): boolean {
  return wait(child, WAIT.exited | WAIT.noHang | WAIT.noWait, null);
}

function hasStopped(child: Child): boolean {
  return wait(child, WAIT.stopped | WAIT.noHang, null);
}

function wait(child: Child, options: number, rusage: Uint8Array | null): boolean {
  info.fill(0);
  const [type, id] = child.pidfd >= 0 ? [WAIT.pPidfd, child.pidfd] : [WAIT.pPid, child.pid];
  return (
    syscall.wait(SYSCALL.waitid, type, id, info, options, rusage) === 0 && info.readInt32LE(SIGINFO.pidOffset) !== 0
  );
}

function reap(child: Child): void {
  const monotonicNs = process.hrtime.bigint();
  child.onZombie();
  if (!wait(child, WAIT.exited | WAIT.noHang, usage)) return;
  children.delete(child);
  child.onEnd({ exit: readExit(monotonicNs), rusage: readUsage() });
}

function readExit(monotonicNs: bigint): Exit {
  const code = info.readInt32LE(SIGINFO.codeOffset);
  const status = info.readInt32LE(SIGINFO.statusOffset);
  if (code === CHILD_EXITED) return { kind: 'exited', exitCode: status, signal: null, coreDumped: false, monotonicNs };
  return {
    kind: 'signaled',
    exitCode: null,
    signal: signalName(status),
    coreDumped: code === CHILD_DUMPED,
    monotonicNs,
  };
}

const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name])
    .reverse() as Array<[number, string]>,
);
const FIRST_REALTIME = 34;

/** Node's table lacks the real-time signals. Reversed above, so that SIGABRT wins over its later synonym SIGIOT. */
function signalName(number: number): string {
  return SIGNAL_NAMES.get(number) ?? (number === FIRST_REALTIME ? 'SIGRTMIN' : `SIGRTMIN+${number - FIRST_REALTIME}`);
}

/** The kernel counts the moment before exec too: maxRss is never below what this process had then. */
function readUsage(): Process['rusage'] {
  const at = (offset: number): number => Number(usage.readBigInt64LE(offset));
  return {
    userMicroseconds: at(RUSAGE.userSeconds) * 1_000_000 + at(RUSAGE.userMicroseconds),
    systemMicroseconds: at(RUSAGE.systemSeconds) * 1_000_000 + at(RUSAGE.systemMicroseconds),
    maxRssKib: at(RUSAGE.maxRssKib),
    minorFaults: at(RUSAGE.minorFaults),
    majorFaults: at(RUSAGE.majorFaults),
    voluntarySwitches: at(RUSAGE.voluntarySwitches),
    involuntarySwitches: at(RUSAGE.involuntarySwitches),
  };
}

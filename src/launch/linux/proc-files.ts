import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import type { Sandbox } from '../../contract/index.ts';

/** What the kernel says about a process. All of it also holds for a zombie, so it is read before reaping. */

/** Field 22 of `/proc/<pid>/stat`; null when it is gone. The command name before it may hold anything, even `) `. */
export function startTimeOf(pid: number): string | null {
  return statFields(pid)?.[19] ?? null;
}

/** Whether anything is left in a process group whose leader is gone: only then is its number still taken. */
export function groupHasMembers(group: number): boolean {
  return pids().some((pid) => statFields(pid)?.[2] === String(group));
}

/** The fields behind the name: index 0 is field 3, the state. */
function statFields(pid: number): string[] | undefined {
  const text = read(`/proc/${pid}/stat`);
  return text
    ?.slice(text.lastIndexOf(')') + 2)
    .trim()
    .split(' ');
}

export function observeSandbox(pid: number): Sandbox['observed'] {
  const text = read(`/proc/${pid}/status`) ?? '';
  const line = (name: string): string | undefined => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(text)?.[1];
  const noNewPrivs = line('NoNewPrivs');
  const seccomp = line('Seccomp');
  return {
    noNewPrivs: noNewPrivs === undefined ? null : noNewPrivs === '1',
    seccomp: seccomp === undefined ? null : Number(seccomp),
    capEff: line('CapEff') ?? null,
    landlock: 'none',
  };
}

export function commOf(pid: number): string | undefined {
  return read(`/proc/${pid}/comm`)?.replace(/\n$/, '');
}

export interface FileName {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Device and inode of what the process runs; undefined when it may not be read, or the process is gone. */
export function executableOf(pid: number): FileName | undefined {
  try {
    return statSync(`/proc/${pid}/exe`, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Processes other than ours with the write end of this pipe open. Those of other users are not seen. */
export function writersOf(pipeInode: bigint): Array<{ pid: number; comm: string }> {
  const target = `pipe:[${pipeInode}]`;
  return pids()
    .filter((pid) => pid !== process.pid && writesTo(pid, target))
    .map((pid) => ({ pid, comm: commOf(pid) ?? '' }));
}

function writesTo(pid: number, target: string): boolean {
  const directory = `/proc/${pid}/fd`;
  try {
    return readdirSync(directory).some((fd) => isWriteEnd(`${directory}/${fd}`, target));
  } catch {
    return false;
  }
}

/** The link's own mode says how the descriptor was opened. */
function isWriteEnd(link: string, target: string): boolean {
  try {
    return readlinkSync(link) === target && (lstatSync(link).mode & 0o200) !== 0;
  } catch {
    return false;
  }
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

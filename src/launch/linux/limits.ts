import { readFileSync } from 'node:fs';
import { RLIMIT } from './abi.ts';
import { prlimit } from './libc.ts';

/**
 * What a child inherits of our limits, set around the spawn alone.
 *
 * Node raises its soft RLIMIT_NOFILE to the hard one at start and keeps no note of what it was. What can be known is
 * the limit of the process that started us, which is what the command would have inherited without us; where that
 * cannot be read, or is of no use, the child gets ours. Core dumps are unredacted bytes at rest: a soft limit of 1
 * byte is below any dump and, other than 0, also stops a dump that `core_pattern` pipes to a program.
 */
const NO_CORE = 1n;
const LOW_SOFT_LIMIT = 256n;

interface Limit {
  readonly soft: bigint;
  readonly hard: bigint;
}

/** Asked for once, early: later the parent may be gone. */
export function inheritedFileLimit(): bigint | undefined {
  try {
    const line = /^Max open files +(\d+|unlimited) /m.exec(readFileSync(`/proc/${process.ppid}/limits`, 'utf8'));
    const soft = line?.[1] === undefined || line[1] === 'unlimited' ? undefined : BigInt(line[1]);
    return soft !== undefined && soft >= LOW_SOFT_LIMIT ? soft : undefined;
  } catch {
    return undefined;
  }
}

/** Runs one synchronous spawn under the child's limits. Our own open descriptors are not touched by a lower limit. */
export function underChildLimits<T>(fileLimit: bigint | undefined, spawn: () => T): T {
  const files = read(RLIMIT.nofile);
  const core = read(RLIMIT.core);
  if (fileLimit !== undefined && fileLimit < files.soft) write(RLIMIT.nofile, { ...files, soft: fileLimit });
  write(RLIMIT.core, { ...core, soft: core.hard < NO_CORE ? core.hard : NO_CORE });
  try {
    return spawn();
  } finally {
    write(RLIMIT.nofile, files);
    write(RLIMIT.core, core);
  }
}

export function forbidCoreDumps(): void {
  const core = read(RLIMIT.core);
  write(RLIMIT.core, { ...core, soft: core.hard < NO_CORE ? core.hard : NO_CORE });
}

/** RLIM_INFINITY is the largest u64, so plain comparison holds. */
function read(resource: number): Limit {
  const data = Buffer.alloc(RLIMIT.size);
  prlimit(0, resource, null, data);
  return { soft: data.readBigUInt64LE(0), hard: data.readBigUInt64LE(8) };
}

function write(resource: number, limit: Limit): void {
  const data = Buffer.alloc(RLIMIT.size);
  data.writeBigUInt64LE(limit.soft, 0);
  data.writeBigUInt64LE(limit.hard, 8);
  prlimit(0, resource, data, null);
}

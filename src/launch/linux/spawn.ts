import { closeSync, readdirSync } from 'node:fs';
import { ReceiptsError } from '../../contract/index.ts';
import {
  CLOSE_RANGE_CLOEXEC,
  FCNTL,
  FILE_ACTIONS_SIZE,
  PIPE_CLOEXEC,
  POSIX_SPAWN,
  SIGSET_SIZE,
  SPAWN_ATTRIBUTES_SIZE,
  SYSCALL,
} from './abi.ts';
import {
  errnoName,
  fcntl,
  fileActionsDestroy,
  fileActionsDup2,
  fileActionsFchdir,
  fileActionsInit,
  orThrow,
  pipe2,
  posixSpawn,
  spawnAttributesFlags,
  spawnAttributesInit,
  spawnAttributesSigdefault,
  syscall,
} from './libc.ts';
import { underChildLimits } from './limits.ts';
import { executableOf, type FileName } from './proc-files.ts';
import { stringVector } from './vector.ts';

/**
 * Threat: between a path's check and its exec the path can mean something else, and a descriptor that slips into the
 * child (a lease, a key, the store) is the child's to use. The path given to exec is `/proc/self/fd/N`, which is
 * whatever descriptor N holds; everything above stdio is marked close-on-exec first, save what is handed over by name.
 */
export interface SpawnPlan {
  readonly execFd: number;
  readonly argv: readonly string[];
  /** `NAME=value`. */
  readonly environment: readonly string[];
  readonly cwdFd: number;
  /** Descriptors the child keeps under the same number. */
  readonly handedOver: readonly number[];
  readonly fileLimit: bigint | undefined;
  readonly terminal: { addTo(actions: Uint8Array): void } | undefined;
}

export interface Spawned {
  readonly pid: number;
  /** What `/proc/<pid>/exe` named right after exec; undefined when it could not be read. */
  readonly executable: FileName | undefined;
  /** Read ends. */
  readonly stdoutFd: number;
  readonly stderrFd: number;
}

export function spawnBound(plan: SpawnPlan): Spawned {
  const stdout = openPipe();
  const stderr = openPipe();
  try {
    const child = spawnOnto(plan, stdout.write, stderr.write);
    return { ...child, stdoutFd: stdout.read, stderrFd: stderr.read };
  } catch (error) {
    closeSync(stdout.read);
    closeSync(stderr.read);
    throw error;
  } finally {
    closeSync(stdout.write);
    closeSync(stderr.write);
  }
}

function openPipe(): { read: number; write: number } {
  const fds = Buffer.alloc(8);
  orThrow(pipe2(fds, PIPE_CLOEXEC), 'pipe2');
  return { read: fds.readInt32LE(0), write: fds.readInt32LE(4) };
}

/** `adddup2` also where source and target are equal: that clears the close-on-exec mark which Node set on stdio. */
function spawnOnto(plan: SpawnPlan, stdout: number, stderr: number): Child {
  const actions = Buffer.alloc(FILE_ACTIONS_SIZE);
  fileActionsInit(actions);
  try {
    fileActionsDup2(actions, 0, 0);
    fileActionsDup2(actions, stdout, 1);
    fileActionsDup2(actions, stderr, 2);
    for (const fd of plan.handedOver) fileActionsDup2(actions, fd, fd);
    fileActionsFchdir(actions, plan.cwdFd);
    plan.terminal?.addTo(actions);
    return spawn(plan, actions);
  } finally {
    fileActionsDestroy(actions);
  }
}

type Child = Pick<Spawned, 'pid' | 'executable'>;

/** The look at `/proc/<pid>/exe` comes before everything else: `true` is gone half a millisecond later. */
function spawn(plan: SpawnPlan, actions: Buffer): Child {
  const argv = stringVector(plan.argv);
  const environment = stringVector(plan.environment);
  const path = `/proc/self/fd/${plan.execFd}`;
  const pid = Buffer.alloc(4);
  markCloseOnExec();
  const { errno, executable } = underChildLimits(plan.fileLimit, () => {
    const result = posixSpawn(pid, path, actions, attributes(), argv, environment);
    return { errno: result, executable: result === 0 ? executableOf(pid.readInt32LE(0)) : undefined };
  });
  if (errno !== 0) throw spawnFailed(errnoName(errno), plan.argv[0] ?? '');
  return { pid: pid.readInt32LE(0), executable };
}

let cachedAttributes: Buffer | undefined;

/** Own process group, no signal blocked, every one at its default: Node ignores SIGPIPE, the command must not. */
function attributes(): Buffer {
  if (cachedAttributes) return cachedAttributes;
  const made = Buffer.alloc(SPAWN_ATTRIBUTES_SIZE);
  spawnAttributesInit(made);
  spawnAttributesFlags(made, POSIX_SPAWN.setPgroup | POSIX_SPAWN.setSigDefault | POSIX_SPAWN.setSigMask);
  spawnAttributesSigdefault(made, Buffer.alloc(SIGSET_SIZE, 0xff));
  cachedAttributes = made;
  return made;
}

/** One call from Linux 5.11; before that, one per descriptor. */
function markCloseOnExec(): void {
  if (syscall.numbers(SYSCALL.closeRange, 3, 0xffffffff, CLOSE_RANGE_CLOEXEC, 0) === 0) return;
  for (const name of readdirSync('/proc/self/fd')) {
    if (Number(name) > 2) fcntl(Number(name), FCNTL.F_SETFD, FCNTL.FD_CLOEXEC);
  }
}

function spawnFailed(errno: string, program: string): ReceiptsError {
  const [message, next] = explain(errno);
  return new ReceiptsError('SPAWN_FAILED', `${JSON.stringify(program)} could not be started: ${message} (${errno}).`, {
    where: '/executable',
    errno,
    next,
  });
}

/** The object exists, since a descriptor holds it: ENOENT can only mean the loader that the ELF names. */
function explain(errno: string): readonly [message: string, next: string] {
  switch (errno) {
    case 'ENOENT':
      return [
        'its ELF interpreter (the dynamic loader it names) is missing',
        'Install the C library it was built for.',
      ];
    case 'E2BIG':
      return ['its arguments and environment are larger than the kernel takes', 'Pass them in a file or on stdin.'];
    case 'ENOEXEC':
      return ['the kernel cannot execute its format', 'Use a program built for this machine.'];
    case 'EACCES':
      return ['the kernel refused to execute it', 'Look at the mount options (noexec) and at its permissions.'];
    default:
      return ['the system refused', 'Look the error up in execve(2) and posix_spawn(3).'];
  }
}

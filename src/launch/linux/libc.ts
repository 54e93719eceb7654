import { getSystemErrorName } from 'node:util';
import koffi, { type LibraryHandle } from 'koffi';
import { isSupportedArchitecture } from './abi.ts';

/**
 * The C library that Node itself is linked to, glibc or musl: the process's own symbols need no file name.
 * Variadic functions are declared once per shape in use, with `long` where the callee reads a `long`: koffi's variadic
 * calls take a type for each argument at every call and are several times slower.
 */
const library = load();

function load(): LibraryHandle {
  if (!isSupportedArchitecture(process.arch)) throw new Error(`no table of system calls for ${process.arch}`);
  return koffi.load(null);
}

type Pointer = Uint8Array | null;

export const fcntl: (fd: number, command: number, argument: number) => number =
  library.func('int fcntl(int, int, long)');
export const pipe2: (fds: Uint8Array, flags: number) => number = library.func('int pipe2(void*, int)');
export const prctl: (option: number, a: number, b: number, c: number, d: number) => number = library.func(
  'int prctl(int, ulong, ulong, ulong, ulong)',
);
export const flock: (fd: number, operation: number) => number = library.func('int flock(int, int)');
export const prlimit: (pid: number, resource: number, next: Pointer, previous: Pointer) => number = library.func(
  'int prlimit(int, int, void*, void*)',
);

export const posixSpawn: (
  pid: Uint8Array,
  path: string,
  actions: Uint8Array,
  attributes: Uint8Array,
  argv: Uint8Array,
  envp: Uint8Array,
) => number = library.func('int posix_spawn(void*, const char*, void*, void*, void*, void*)');
type FileActionsCall = (actions: Uint8Array) => number;
export const fileActionsInit: FileActionsCall = library.func('int posix_spawn_file_actions_init(void*)');
export const fileActionsDestroy: FileActionsCall = library.func('int posix_spawn_file_actions_destroy(void*)');
export const fileActionsDup2: (actions: Uint8Array, from: number, to: number) => number = library.func(
  'int posix_spawn_file_actions_adddup2(void*, int, int)',
);
/** glibc 2.29, musl 1.1.24: without it there is no Linux launcher. */
export const fileActionsFchdir: (actions: Uint8Array, fd: number) => number = library.func(
  'int posix_spawn_file_actions_addfchdir_np(void*, int)',
);
export const spawnAttributesInit: (attributes: Uint8Array) => number = library.func('int posix_spawnattr_init(void*)');
export const spawnAttributesFlags: (attributes: Uint8Array, flags: number) => number = library.func(
  'int posix_spawnattr_setflags(void*, short)',
);
export const spawnAttributesSigdefault: (attributes: Uint8Array, set: Uint8Array) => number = library.func(
  'int posix_spawnattr_setsigdefault(void*, void*)',
);

const syscallWithPath: (number: number, fd: number, path: string, data: Uint8Array, size: number) => number =
  library.func('long syscall(long, long, const char*, void*, long)');
const syscallStatx: (
  number: number,
  fd: number,
  path: string,
  flags: number,
  mask: number,
  data: Uint8Array,
) => number = library.func('long syscall(long, long, const char*, long, long, void*)');
const syscallWait: (
  number: number,
  type: number,
  id: number,
  info: Uint8Array,
  options: number,
  usage: Pointer,
) => number = library.func('long syscall(long, long, long, void*, long, void*)');
const syscallNumbers: (number: number, a: number, b: number, c: number, d: number) => number = library.func(
  'long syscall(long, long, long, long, long)',
);
export const syscall = {
  withPath: syscallWithPath,
  statx: syscallStatx,
  wait: syscallWait,
  numbers: syscallNumbers,
};

/** Functions that only some launches need are looked up when one does. */
function later<F extends (...args: never[]) => number>(declaration: string): F {
  let found: F | undefined;
  return ((...args: Parameters<F>) => {
    found ??= library.func(declaration) as unknown as F;
    return found(...args);
  }) as F;
}

export const memfdCreate = later<(name: string, flags: number) => number>('int memfd_create(const char*, uint)');
export const ioctl = later<(fd: number, request: number, data: Uint8Array) => number>('int ioctl(int, ulong, void*)');
export const fgetxattr = later<(fd: number, name: string, value: Pointer, size: number) => number>(
  'long fgetxattr(int, const char*, void*, size_t)',
);
export const inotifyInit = later<(flags: number) => number>('int inotify_init1(int)');
export const inotifyAddWatch = later<(fd: number, path: string, mask: number) => number>(
  'int inotify_add_watch(int, const char*, uint)',
);
export const inotifyRemoveWatch = later<(fd: number, wd: number) => number>('int inotify_rm_watch(int, int)');
export const tcgetpgrp = later<(fd: number) => number>('int tcgetpgrp(int)');
export const tcsetpgrp = later<(fd: number, group: number) => number>('int tcsetpgrp(int, int)');
export const getpgrp = later<() => number>('int getpgrp(void)');
export const signalMask = later<(how: number, set: Uint8Array, previous: Pointer) => number>(
  'int pthread_sigmask(int, void*, void*)',
);

type TcsetpgrpAction = (actions: Uint8Array, fd: number) => number;
/** glibc 2.35. */
export const fileActionsTcsetpgrp = ifThere<TcsetpgrpAction>(
  'int posix_spawn_file_actions_addtcsetpgrp_np(void*, int)',
);

function ifThere<F>(declaration: string): F | undefined {
  try {
    return library.func(declaration) as unknown as F;
  } catch {
    return undefined;
  }
}

export const address: (buffer: Uint8Array) => bigint = (buffer) => koffi.address(buffer);

/** Name of the last failed call's errno; to be asked before anything else is called. */
export function lastErrno(): string {
  return errnoName(koffi.errno());
}

export function errnoName(errno: number): string {
  return getSystemErrorName(-errno);
}

/** A failed system call that nobody had a better answer to; `code` as on Node's own system errors. */
export class SystemCallError extends Error {
  override readonly name = 'SystemCallError';
  readonly code: string;

  constructor(call: string, code: string) {
    super(`${call}: ${code}`);
    this.code = code;
  }
}

export function orThrow(result: number, call: string): number {
  if (result < 0) throw new SystemCallError(call, lastErrno());
  return result;
}

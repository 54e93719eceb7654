import { constants } from 'node:fs';

/**
 * The one table of numbers that belong to the kernel's and the C library's interface. x64 and arm64 share everything
 * except three system calls; `O_DIRECTORY` and `O_NOFOLLOW` differ too, but Node's own constants know them.
 */
const PER_ARCHITECTURE = {
  x64: { waitid: 247, statx: 332, machines: [62, 3] },
  arm64: { waitid: 95, statx: 291, machines: [183, 40] },
} as const;

export function isSupportedArchitecture(architecture: string): architecture is keyof typeof PER_ARCHITECTURE {
  return architecture in PER_ARCHITECTURE;
}

const native = PER_ARCHITECTURE[isSupportedArchitecture(process.arch) ? process.arch : 'x64'];

/** ELF `e_machine` values that this kernel runs itself; any other is a case for binfmt_misc. */
export const NATIVE_MACHINES: readonly number[] = native.machines;

export const SYSCALL = {
  waitid: native.waitid,
  statx: native.statx,
  pidfdSendSignal: 424,
  pidfdOpen: 434,
  closeRange: 436,
  openat2: 437,
} as const;

export const O_PATH = 0o10000000;
export const OPEN_DIRECTORY = O_PATH | constants.O_DIRECTORY;

/** struct open_how: flags, mode, resolve (3 x u64). */
export const OPEN_HOW_SIZE = 24;
export const RESOLVE_NO_MAGICLINKS = 0x02;
export const RESOLVE_BENEATH = 0x08;

export const STATX = { size: 256, maskOffset: 0, mountIdOffset: 0x90, mountId: 0x1000, atEmptyPath: 0x1000 } as const;
export const AT_FDCWD = -100;
export const AT_SYMLINK_NOFOLLOW = 0x100;

export const FCNTL = {
  F_SETFD: 2,
  F_GETFL: 3,
  F_SETFL: 4,
  F_SETLEASE: 1024,
  F_GETLEASE: 1025,
  F_DUPFD_CLOEXEC: 1030,
  F_GETPIPE_SZ: 1032,
  F_ADD_SEALS: 1033,
  F_RDLCK: 0,
  F_UNLCK: 2,
  FD_CLOEXEC: 1,
} as const;

export const SEAL = { seal: 0x01, shrink: 0x02, grow: 0x04, write: 0x08, exec: 0x20 } as const;
export const MFD = { cloexec: 0x01, allowSealing: 0x02, exec: 0x10 } as const;

/** _IOWR('f', 134, struct fsverity_digest); the answer is u16 algorithm, u16 size, then the digest. */
export const FS_IOC_MEASURE_VERITY = 0xc0046686;

export const CLOSE_RANGE_CLOEXEC = 0x4;
export const PIPE_CLOEXEC = 0o2000000;
export const O_NONBLOCK = 0o4000;

/** struct inotify_event: wd, mask, cookie, len (4 x 32 bits), then `len` bytes of a name padded with NULs. */
export const INOTIFY_EVENT = { headerSize: 16, wdOffset: 0, maskOffset: 4, lengthOffset: 12 } as const;
export const IN = {
  modify: 0x2,
  movedFrom: 0x40,
  movedTo: 0x80,
  create: 0x100,
  delete: 0x200,
  deleteSelf: 0x400,
  moveSelf: 0x800,
  unmount: 0x2000,
  queueOverflow: 0x4000,
  ignored: 0x8000,
  onlyDirectory: 0x1000000,
  dontFollow: 0x2000000,
  nonBlock: 0o4000,
  cloexec: 0o2000000,
} as const;
export const FIONREAD = 0x541b;

/** Room for both libraries' opaque structs: glibc has 80 and 336 bytes, musl no more. */
export const FILE_ACTIONS_SIZE = 256;
export const SPAWN_ATTRIBUTES_SIZE = 512;
export const SIGSET_SIZE = 128;
export const POSIX_SPAWN = { setPgroup: 0x02, setSigDefault: 0x04, setSigMask: 0x08 } as const;

export const PR_GET_DUMPABLE = 3;
export const PR_SET_DUMPABLE = 4;

export const RLIMIT = { core: 4, nofile: 7, size: 16 } as const;

export const WAIT = { pPid: 1, pPidfd: 3, noHang: 0x1, stopped: 0x2, exited: 0x4, noWait: 0x01000000 } as const;
export const SIGINFO = { size: 128, codeOffset: 8, pidOffset: 16, statusOffset: 24 } as const;
export const CHILD_EXITED = 1;
export const CHILD_DUMPED = 3;

/** struct rusage, all members 64 bits wide. */
export const RUSAGE = {
  size: 144,
  userSeconds: 0,
  userMicroseconds: 8,
  systemSeconds: 16,
  systemMicroseconds: 24,
  maxRssKib: 32,
  minorFaults: 64,
  majorFaults: 72,
  voluntarySwitches: 128,
  involuntarySwitches: 136,
} as const;

export const LOCK = { shared: 1, exclusive: 2, nonBlocking: 4, unlock: 8 } as const;

export const SIG_BLOCK = 0;
export const SIG_SETMASK = 2;

import { type Static, Type } from 'typebox';
import { BINDING_METHODS, ENVIRONMENT_CLASSES } from '../codes.ts';
import { Closed, Count, Decimal, Digest, KeyedDigest, Nullable, OneOf, Sha256Hex, Text } from './primitives.ts';

/** One try of one binding method: used, or passed over and why. */
export const BindingAttempt = Closed({
  method: OneOf(BINDING_METHODS),
  outcome: OneOf(['used', 'passed-over'] as const),
  reason: Type.Optional(Text),
});
export type BindingAttempt = Static<typeof BindingAttempt>;

/** The file that was opened once and digested; `path` is where it was found, the rest is read from the descriptor. */
export const ProgramFile = Closed({
  requested: Text,
  path: Nullable(Text),
  kind: Nullable(OneOf(['elf', 'script', 'other'] as const)),
  sha256: Nullable(Sha256Hex),
  size: Nullable(Count),
  device: Nullable(Decimal),
  inode: Nullable(Decimal),
  binding: Closed({
    method: OneOf(BINDING_METHODS),
    filesystem: Nullable(Text),
    attempts: Type.Array(BindingAttempt),
  }),
});
export type ProgramFile = Static<typeof ProgramFile>;

/** What is left of a program that was never found or opened. */
export const RequestedOnly = Closed({ requested: Text });
export type RequestedOnly = Static<typeof RequestedOnly>;

export const Cwd = Closed({
  requested: Text,
  resolved: Nullable(Text),
  mountId: Nullable(Decimal),
  device: Nullable(Decimal),
  inode: Nullable(Decimal),
  method: OneOf(['openat2', 'component-walk', 'path'] as const),
});
export type Cwd = Static<typeof Cwd>;

/** How the script that `executable` (or the shell text) is was handed to its interpreter. */
export const Script = Closed({
  mode: OneOf(['sealed', 'watched', 'unbound'] as const),
  /** The line after `#!`, redacted; absent for a shell text and for a file without one. */
  shebang: Type.Optional(Text),
});
export type Script = Static<typeof Script>;

export const Command = Type.Union([
  Closed({
    mode: Type.Literal('argv'),
    /** The vector as it was asked for, redacted. */
    requested: Type.Array(Text, { minItems: 1 }),
    /** Over the unredacted `argv`, length-prefixed. */
    argvDigest: KeyedDigest,
  }),
  Closed({
    mode: Type.Literal('shell'),
    shell: Closed({
      executable: Text,
      args: Type.Array(Text),
      scriptDigest: KeyedDigest,
      scriptBytes: Count,
    }),
    argvDigest: KeyedDigest,
  }),
]);
export type Command = Static<typeof Command>;

const EnvironmentName = Closed({ name: Text, class: OneOf(ENVIRONMENT_CLASSES) });
export const Environment = Closed({
  passed: Type.Array(EnvironmentName),
  withheld: Type.Array(EnvironmentName),
  /** The names and patterns in force; absent where everything but the withheld passes. */
  allowlist: Type.Optional(Type.Array(Text)),
  configDigests: Type.Array(Closed({ name: Text, digest: Digest })),
});
export type Environment = Static<typeof Environment>;

export const Sandbox = Closed({
  profile: OneOf(['none', 'no-new-privs', 'workspace-write'] as const),
  observed: Closed({
    noNewPrivs: Nullable(Type.Boolean()),
    seccomp: Nullable(Count),
    /** Effective capabilities, 16 hex digits as in `/proc/<pid>/status`. */
    capEff: Nullable(Type.String({ pattern: '^[0-9a-f]{16}$' })),
    landlock: OneOf(['none', 'applied'] as const),
  }),
});
export type Sandbox = Static<typeof Sandbox>;

export const Rusage = Closed({
  userMicroseconds: Count,
  systemMicroseconds: Count,
  maxRssKib: Count,
  minorFaults: Count,
  majorFaults: Count,
  voluntarySwitches: Count,
  involuntarySwitches: Count,
});
export type Rusage = Static<typeof Rusage>;

export const Process = Closed({
  pid: Count,
  /** Field 22 of `/proc/<pid>/stat`, in clock ticks since boot: with the boot id it names the process for good. */
  startTimeTicks: Nullable(Decimal),
  processGroup: Nullable(Count),
  rusage: Nullable(Rusage),
});
export type Process = Static<typeof Process>;

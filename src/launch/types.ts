import type {
  BindingMethod,
  Cwd,
  ErrorCode,
  Flag,
  Gap,
  Process,
  ProgramFile,
  RequestedOnly,
  Sandbox,
  Script,
} from '../contract/index.ts';

/** What is to be started. All strings are unredacted: facts derived from them pass the redactor before they are stored. */
export interface BindRequest {
  readonly program:
    | { readonly mode: 'argv'; readonly argv: readonly string[] }
    /** `args` holds `{0}` where the sealed script's path goes. */
    | { readonly mode: 'shell'; readonly shell: string; readonly args: readonly string[]; readonly text: string };
  readonly cwd: {
    /** Absolute path that `requested` may not leave. */
    readonly workspace: string;
    /** Relative to the workspace, or absolute below it. */
    readonly requested: string;
  };
  /** The environment that the command gets, in order; PATH of it resolves the program. */
  readonly environment: ReadonlyArray<readonly [name: string, value: string]>;
  /** Binding methods that may be used, best first. */
  readonly bindingOrder: readonly BindingMethod[];
  /** Directory for content-addressed copies, created 0700 when first needed. */
  readonly programsDirectory: string;
}

export type BindOutcome = Bound | BindFailed;

/** Nothing was started. `kind` says whether we refused or the system would have (126, 127). */
export interface BindFailed {
  readonly ok: false;
  readonly kind: 'refused' | 'start-failed';
  readonly code: ErrorCode;
  readonly message: string;
  readonly where?: string;
  readonly next?: string;
  readonly errno?: string;
  readonly cwd: Cwd | RequestedOnly;
  readonly executable: ProgramFile | RequestedOnly;
}

export interface BoundFacts {
  readonly cwd: Cwd;
  readonly executable: ProgramFile;
  /** Outermost first; exec starts the last. */
  readonly interpreters: readonly ProgramFile[];
  readonly script?: Script;
  /** The vector given to exec. */
  readonly argv: readonly string[];
  readonly flags: readonly Flag[];
  readonly gaps: readonly Gap[];
}

export interface Bound {
  readonly ok: true;
  readonly facts: BoundFacts;
  /** Starts the process. Throws ReceiptsError SPAWN_FAILED (with `errno`) when the system refuses; nothing runs then. */
  start(options: StartOptions): Running;
  /** Gives up leases and descriptors. Safe to call twice. */
  release(): void;
}

export interface StartOptions {
  /** Called at most once, as soon as the pinned bytes are seen to have changed while the process runs; the launcher has ended the group. */
  readonly onRebound?: (flag: 'EXECUTABLE_REBOUND' | 'SCRIPT_REBOUND') => void;
}

export interface Exit {
  readonly kind: 'exited' | 'signaled';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly coreDumped: boolean | null;
  /** CLOCK_MONOTONIC nanoseconds at which the end was seen. */
  readonly monotonicNs: bigint;
}

export interface Running {
  readonly pid: number;
  /** CLOCK_MONOTONIC nanoseconds right after the process existed. */
  readonly startedNs: bigint;
  readonly stdout: ByteSource;
  readonly stderr: ByteSource;
  readonly exit: Promise<Exit>;
  /** Facts that need the process: complete (rusage) once `exit` has resolved. */
  process(): Process;
  sandbox(): Sandbox;
  /** Sends to the command's process group; false when it could not be signalled. */
  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT' | 'SIGKILL' | 'SIGCONT' | 'SIGTSTP' | 'SIGWINCH'): boolean;
  /** Processes that still hold the write end of a stream (Linux; empty elsewhere). */
  holders(stream: 'stdout' | 'stderr'): ReadonlyArray<{ pid: number; comm: string }>;
  /** After the exit: looks once more whether the pinned bytes stayed what they were. Flags and gaps that arose since `facts`. */
  finish(): { readonly flags: readonly Flag[]; readonly gaps: readonly Gap[] };
}

export interface ByteSink {
  /** Bytes are valid only during the call. False asks the source to pause until `resume`. */
  data(bytes: Uint8Array): boolean;
  /** Exactly once, last. */
  end(how: 'eof' | 'read-error', error?: unknown): void;
}

export interface ByteSource {
  start(sink: ByteSink): void;
  resume(): void;
  /**
   * Reads what is in the pipe now without waiting (also when paused), hands it to the sink, closes; `end` is not called.
   * Tells whether the end of the stream was reached by that (`open`: someone still holds the write end). Safe after the end.
   */
  drainAndClose(): 'eof' | 'open';
  /** Closes the read end at once, so that the writer gets SIGPIPE; `end` is not called. */
  close(): void;
}

export interface Launcher {
  readonly kind: 'linux' | 'portable';
  /** Why objects cannot be bound here; undefined for the Linux launcher. */
  readonly unboundReason?: string;
  bind(request: BindRequest): Promise<BindOutcome>;
}

import { type CommandReceipt, digestOf } from '../../src/contract/index.ts';
import { buildStreams, type StreamSpec } from './build-streams.ts';

export interface CommandSpec {
  readonly argv?: string[];
  readonly kind?: 'exited' | 'signaled' | 'timed-out' | 'refused' | 'start-failed' | 'lost';
  readonly exitCode?: number;
  readonly stdout?: StreamSpec;
  readonly stderr?: StreamSpec;
}

export interface Position {
  readonly receiptId: string;
  readonly taskId: string;
  readonly keyId: string;
  readonly chain: CommandReceipt['chain'];
}

const keyed = { keyId: 'AAAAAAAAAAAAAAAAAAAAAA', algorithm: 'hmac-sha256' as const, value: 'ab'.repeat(32) };

const program = (path: string) => ({
  requested: path,
  path,
  kind: 'elf' as const,
  sha256: 'cd'.repeat(32),
  size: 1000,
  device: '2049',
  inode: '77',
  binding: {
    method: 'lease' as const,
    filesystem: 'ext4',
    attempts: [{ method: 'lease' as const, outcome: 'used' as const }],
  },
});

function common(spec: CommandSpec, position: Position) {
  const argv = spec.argv ?? ['/usr/bin/make', 'test'];
  return {
    schema: 'command-receipt.v1' as const,
    receiptId: position.receiptId,
    task: { id: position.taskId, step: 'test', attempt: 1 },
    chain: position.chain,
    context: { kind: 'local' as const },
    command: { mode: 'argv' as const, requested: [...argv], argvDigest: keyed },
    argv,
    environment: { passed: [{ name: 'PATH', class: 'standard' as const }], withheld: [], configDigests: [] },
    policy: {
      decisionId: position.receiptId,
      digest: digestOf('policy'),
      outcome: 'ALLOW' as const,
      rule: 'default',
      source: 'built-in' as const,
    },
    time: {
      monotonicStartNs: '1000',
      monotonicEndNs: '9000',
      bootId: 'b0',
      startedAt: '2026-01-02T03:04:05.000Z',
      endedAt: '2026-01-02T03:04:06.000Z',
    },
    redaction: {
      ruleset: { id: 'standard', version: '1', digest: digestOf('rules') },
      status: 'applied' as const,
      skippedLiterals: [],
    },
    evidence: { flags: [], gaps: [{ field: '/executable', reason: 'dynamic-loader-unbound' as const }] },
    executor: {
      name: 'command-receipts' as const,
      version: '0.1.0',
      distDigest: digestOf('dist'),
      runtime: 'node v20',
      platform: 'linux-x64',
      launcher: 'linux' as const,
      isolation: 'same-user' as const,
      keyId: position.keyId,
      custody: 'process-memory' as const,
    },
    rollout: { stage: 'enforced' as const, writers: ['command-receipt.v1'] },
  };
}

const cwd = {
  requested: '.',
  resolved: '/work',
  mountId: '30',
  device: '2049',
  inode: '2',
  method: 'openat2' as const,
};

/** A receipt with every fact that its kind has. */
export function draftReceipt(spec: CommandSpec, position: Position): CommandReceipt {
  const shared = common(spec, position);
  const requested = { requested: shared.argv[0] ?? '' };
  const none = { exitCode: null, signal: null };
  if (spec.kind === 'refused')
    return {
      ...shared,
      started: 'no',
      cwd: { requested: '.' },
      executable: requested,
      interpreters: [],
      termination: {
        kind: 'refused',
        ...none,
        code: 'CWD_ESCAPES',
        message: 'the directory lies outside the workspace',
      },
    };
  if (spec.kind === 'start-failed')
    return {
      ...shared,
      started: 'no',
      cwd,
      executable: program('/usr/bin/make'),
      interpreters: [],
      termination: {
        kind: 'start-failed',
        ...none,
        code: 'SPAWN_FAILED',
        errno: 'ENOEXEC',
        message: 'exec format error',
      },
    };
  if (spec.kind === 'lost')
    return {
      ...shared,
      started: 'unknown',
      cwd: { requested: '.' },
      executable: requested,
      interpreters: [],
      policy: null,
      time: { ...shared.time, monotonicEndNs: null, endedAt: null },
      evidence: {
        flags: [],
        gaps: [{ field: '/termination', reason: 'executor-crashed' }],
        recoveredBy: { keyId: position.keyId, recoveredAt: '2026-01-02T04:00:00.000Z', journal: 'authenticated' },
      },
      termination: { kind: 'unknown', ...none, missingStage: 'BOUND' },
    };
  return {
    ...shared,
    started: 'yes',
    cwd,
    executable: program('/usr/bin/make'),
    interpreters: [],
    sandbox: { profile: 'none', observed: { noNewPrivs: false, seccomp: 0, capEff: '0'.repeat(16), landlock: 'none' } },
    process: { pid: 4711, startTimeTicks: '12345', processGroup: 4711, rusage: rusage() },
    termination: endOf(spec),
    streams: buildStreams(position.receiptId, spec).evidence,
  };
}

function rusage() {
  return {
    userMicroseconds: 1,
    systemMicroseconds: 1,
    maxRssKib: 1,
    minorFaults: 1,
    majorFaults: 0,
    voluntarySwitches: 0,
    involuntarySwitches: 0,
  };
}

function endOf(spec: CommandSpec): Extract<CommandReceipt, { started: 'yes' }>['termination'] {
  if (spec.kind === 'signaled') return { kind: 'signaled', exitCode: null, signal: 'SIGKILL', coreDumped: false };
  if (spec.kind === 'timed-out')
    return {
      kind: 'timed-out',
      exitCode: null,
      signal: 'SIGKILL',
      coreDumped: false,
      timeout: { limitNs: '1000', termSentNs: '2000', killSentNs: '3000' },
    };
  return { kind: 'exited', exitCode: spec.exitCode ?? 0, signal: null };
}

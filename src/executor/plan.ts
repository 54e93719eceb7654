import { createHmac } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import {
  type Command,
  type CommandReceipt,
  type Environment,
  type Executor,
  type Flag,
  type Gap,
  type KeyedDigest,
  keyedListDigest,
} from '../contract/index.ts';
import type { HmacKey, RequestedFacts, Signer, TaskStore } from '../evidence/index.ts';
import type { BindRequest, Launcher, ProtectionReport } from '../launch/index.ts';
import {
  type Asked,
  type EnvironmentPlan,
  type OpeningTerms,
  openingTerms,
  type Policy,
  planEnvironment,
} from '../policy/index.ts';
import { createRedactor, type Literal, type Redactor } from '../redact/index.ts';
import type { ConsoleStream } from './console.ts';
import type { ContextFacts } from './context.ts';

/** What holds for every attempt of one executor. */
export interface ExecutorSettings {
  readonly launcher: Launcher;
  readonly signer: Signer;
  readonly hmacKey: HmacKey;
  readonly task: TaskStore;
  readonly policy: Policy;
  readonly context: ContextFacts;
  readonly identity: Executor;
  readonly console: { readonly stdout: ConsoleStream; readonly stderr: ConsoleStream };
  /** Says something to the person at the console, redacted. */
  readonly notify: (message: string) => void;
  readonly programsDirectory: string;
  /** Whether `::add-mask::` in the output is a command, as it is where the runner reads our console. */
  readonly masks: 'runner' | 'none';
  readonly bootId: string | null;
  readonly protection: ProtectionReport;
  /** The task ends with this attempt. */
  readonly closeTask: boolean;
  readonly cancelMs: number | undefined;
}

/** One command as it was asked for; everything here is unredacted. */
export interface AttemptRequest {
  readonly program: BindRequest['program'];
  readonly cwd: BindRequest['cwd'];
  readonly step: string | undefined;
  readonly environment: Iterable<readonly [name: string, value: string]>;
  readonly literals: readonly Literal[];
  readonly timeoutMs: number | undefined;
  readonly killAfterMs: number;
  readonly graceMs: number;
}

/** What is settled before anything is opened. */
export interface Plan {
  readonly receiptId: string;
  readonly asked: Asked;
  readonly opening: OpeningTerms;
  readonly environment: EnvironmentPlan;
  readonly redactor: Redactor;
  /** Redacted. */
  readonly step: string | undefined;
  requested(attempt: number): RequestedFacts;
}

export function planAttempt(request: AttemptRequest, settings: ExecutorSettings): Plan {
  const { program } = request;
  const asked: Asked = program.mode === 'argv' ? { argv: program.argv } : { text: program.text };
  const environment = planEnvironment(request.environment, settings.policy.document.environment);
  const redactor = createRedactor({ literals: [...request.literals, ...environment.secrets] });
  const startNs = process.hrtime.bigint();
  const startedAt = new Date().toISOString();
  const facts = {
    context: redactContext(settings.context.context, redactor),
    command: requestedCommand(request, redactor, settings.hmacKey),
    argv: redactor.argv(requestedVector(program)),
    cwd: { requested: redactor.text(request.cwd.requested) },
    executable: { requested: redactor.text(requestedVector(program)[0] ?? '') },
    environment: environmentFacts(environment, redactor),
    time: { monotonicStartNs: startNs.toString(), bootId: settings.bootId, startedAt },
    executor: settings.identity,
    rollout: { stage: 'off' as const, writers: ['command-receipt.v1'] },
    flags: settings.signer.exposedAtStart ? (['KEY_EXPOSED_AT_START'] satisfies Flag[]) : [],
  };
  const step = request.step === undefined ? undefined : redactor.text(request.step);
  return {
    receiptId: uuidv7(),
    asked,
    opening: openingTerms(settings.policy, asked),
    environment,
    redactor,
    step,
    // Masks that the command registers later may be skipped too: asked anew, not kept.
    requested: (attempt) => ({
      ...facts,
      // The id was found to hold no secret when the task was opened.
      task: { id: settings.task.taskId, ...(step !== undefined && { step }), attempt },
      redaction: redactionFacts(redactor),
      gaps: standingGaps(settings, redactor),
    }),
  };
}

function redactionFacts(redactor: Redactor): RequestedFacts['redaction'] {
  const { id, version, digest } = redactor.ruleset;
  const skippedLiterals = redactor.skippedLiterals.map((name) => redactor.text(name));
  return { ruleset: { id, version, digest }, status: 'applied', skippedLiterals };
}

/** The command's facts with the vector that exec was given (docs/format.md §2.3). */
export function commandFacts(requested: Command, argv: readonly string[], key: HmacKey): Command {
  return { ...requested, argvDigest: keyedListDigest(argv, key.key, key.keyId) };
}

function requestedVector(program: BindRequest['program']): readonly string[] {
  return program.mode === 'argv' ? program.argv : [program.shell, ...program.args];
}

function requestedCommand({ program }: AttemptRequest, redactor: Redactor, key: HmacKey): Command {
  const argvDigest = keyedListDigest(requestedVector(program), key.key, key.keyId);
  if (program.mode === 'argv') return { mode: 'argv', requested: redactor.argv(program.argv), argvDigest };
  const bytes = Buffer.from(program.text, 'utf8');
  return {
    mode: 'shell',
    shell: {
      executable: redactor.text(program.shell),
      args: program.args.map((argument) => redactor.text(argument)),
      scriptDigest: keyedBytesDigest(bytes, key),
      scriptBytes: bytes.length,
    },
    argvDigest,
  };
}

function keyedBytesDigest(bytes: Buffer, { key, keyId }: HmacKey): KeyedDigest {
  return { keyId, algorithm: 'hmac-sha256', value: createHmac('sha256', key).update(bytes).digest('hex') };
}

function environmentFacts(plan: EnvironmentPlan, redactor: Redactor): Environment {
  const names = (entries: EnvironmentPlan['passedNames']): Environment['passed'] =>
    entries.map((entry) => ({ name: redactor.text(entry.name), class: entry.class }));
  return {
    passed: names(plan.passedNames),
    withheld: names(plan.withheldNames),
    ...(plan.allowlist && { allowlist: plan.allowlist.map((pattern) => redactor.text(pattern)) }),
    configDigests: [],
  };
}

/** Refs and branch names are chosen by whoever opens a pull request: they pass the redactor like everything else. */
function redactContext(context: CommandReceipt['context'], redactor: Redactor): CommandReceipt['context'] {
  const entries = Object.entries(context).map(([name, value]) => [
    name,
    name === 'kind' || value === null ? value : redactor.text(String(value)),
  ]);
  return Object.fromEntries(entries) as CommandReceipt['context'];
}

function standingGaps(settings: ExecutorSettings, redactor: Redactor): Gap[] {
  const gaps: Gap[] = [...settings.context.gaps];
  if (settings.identity.distDigest === null)
    gaps.push({ field: '/executor/distDigest', reason: 'dist-digest-unknown' });
  if (settings.protection.dumpable || settings.protection.inspectorOpen)
    gaps.push({ field: '/executor/custody', reason: 'executor-unprotected' });
  if (settings.bootId === null) gaps.push({ field: '/time/bootId', reason: 'not-observed' });
  if (!settings.hmacKey.kept) gaps.push({ field: '/command/argvDigest', reason: 'unverifiable-later' });
  if (redactor.skippedLiterals.length > 0)
    gaps.push({ field: '/redaction/skippedLiterals', reason: 'literal-skipped' });
  return gaps;
}

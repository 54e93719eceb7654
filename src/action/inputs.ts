import type { ReceiptsError } from '../contract/index.ts';
import { createSigner, type HmacKey, parseHmacKey, parseSigningKey, type Signer } from '../evidence/index.ts';
import type { AttemptRequest } from '../executor/index.ts';
import { assertUnobserved } from '../launch/index.ts';
import { parseDuration } from '../policy/index.ts';
import { parseArgv } from './argv.ts';
import { InputFields } from './fields.ts';
import { shellProgram } from './shell.ts';

/** What both the step and its post step need. */
export interface JobInputs {
  /** Undefined without `signing-key`. */
  readonly signer: Signer | undefined;
  readonly hmacKey: HmacKey | undefined;
  readonly matrix: unknown;
  readonly task: string | undefined;
  readonly store: string | undefined;
  readonly artifactName: string | undefined;
  readonly upload: boolean;
  readonly retentionDays: number | undefined;
  /** Values that no output may show: keys line by line, and what `secrets` lists. */
  readonly secrets: readonly string[];
}

export interface RunInputs extends JobInputs {
  readonly program: AttemptRequest['program'];
  readonly workingDirectory: string;
  readonly step: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly policy: string | undefined;
}

export type Read<T> =
  | { readonly ok: true; readonly inputs: T }
  | { readonly ok: false; readonly faults: readonly ReceiptsError[] };

const MODES = ['run'] as const;
const LATER_MODES = ['setup', 'gate', 'verify'];

/** Inputs that hold secrets: their variables are emptied once they are read. */
export const SECRET_INPUTS = ['signing-key', 'hmac-key', 'secrets'] as const;

/** Everything that `mode: run` is asked for, or all that is wrong with it. */
export async function readRunInputs(environment: NodeJS.ProcessEnv): Promise<Read<RunInputs>> {
  const fields = new InputFields(environment);
  if (!readMode(fields)) return { ok: false, faults: fields.faults };
  const job = await readJob(fields);
  const program = await readProgram(fields, environment);
  const inputs = {
    ...job,
    workingDirectory: fields.text('working-directory') || '.',
    step: fields.label('step'),
    timeoutMs: readTimeout(fields),
    policy: fields.optional('policy'),
  };
  if (program === undefined || fields.faults.length > 0) return { ok: false, faults: fields.faults };
  return { ok: true, inputs: { ...inputs, program } };
}

export async function readJobInputs(environment: NodeJS.ProcessEnv): Promise<Read<JobInputs>> {
  const fields = new InputFields(environment);
  const inputs = await readJob(fields);
  return fields.faults.length > 0 ? { ok: false, faults: fields.faults } : { ok: true, inputs };
}

function readMode(fields: InputFields): boolean {
  const mode = fields.text('mode') || 'run';
  if (MODES.some((known) => known === mode)) return true;
  const what = LATER_MODES.includes(mode) ? `asks for ${mode}, which is not in this version` : 'names no mode';
  fields.fault('mode', what, `This version has: ${MODES.join(', ')}.`);
  return false;
}

async function readProgram(
  fields: InputFields,
  environment: NodeJS.ProcessEnv,
): Promise<AttemptRequest['program'] | undefined> {
  const run = fields.raw('run');
  const argv = fields.text('argv');
  const shell = fields.text('shell');
  const hasRun = run.trim() !== '';
  if (hasRun && argv !== '') fields.fault('argv', 'stands beside run', 'Leave one of run and argv out.');
  if (!hasRun && argv === '')
    fields.fault('run', 'is missing, and so is argv', 'Give the command as run: (shell text) or argv: (a list).');
  if (argv !== '' && shell !== '')
    fields.fault('shell', 'stands beside argv', 'Leave shell out: an argument vector is started without one.');
  if (hasRun) return fields.attempt('shell', () => shellProgram(run, shell, environment));
  if (argv === '') return undefined;
  const list = await fields.attempt('argv', () => parseArgv(argv));
  return list && { mode: 'argv', argv: list };
}

async function readJob(fields: InputFields): Promise<JobInputs> {
  const signingKey = fields.optional('signing-key');
  const hmacKey = fields.optional('hmac-key');
  const options = { custody: 'reachable-by-command', exposedAtStart: true, guard: assertUnobserved } as const;
  return {
    signer: await fields.attempt('signing-key', () =>
      signingKey === undefined ? undefined : createSigner(parseSigningKey(signingKey, 'signing-key'), options),
    ),
    hmacKey: await fields.attempt('hmac-key', () =>
      hmacKey === undefined ? undefined : parseHmacKey(hmacKey, 'hmac-key'),
    ),
    matrix: readMatrix(fields),
    task: fields.label('task'),
    store: fields.optional('store'),
    artifactName: readArtifactName(fields),
    upload: fields.flag('upload', true),
    retentionDays: readRetentionDays(fields),
    secrets: secretInputs(fields),
  };
}

/** Values that no output may show, whatever else is wrong with the inputs. The armour of a PEM key is no secret. */
export function secretInputs(fields: InputFields): string[] {
  const lines = SECRET_INPUTS.flatMap((name) => fields.lines(name));
  return [...new Set(lines.filter((line) => !/^-----[A-Z ]+-----$/.test(line)))];
}

function readTimeout(fields: InputFields): number | undefined {
  const text = fields.text('timeout');
  if (text === '') return undefined;
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) fields.fault('timeout', 'is no duration', 'Write it like 90s, 10m or 2h.');
  return milliseconds;
}

function readMatrix(fields: InputFields): unknown {
  try {
    return JSON.parse(fields.text('matrix') || 'null');
  } catch {
    fields.fault('matrix', 'is no JSON', 'Leave it out: the default is the matrix of the job.');
    return null;
  }
}

/** What the artifact service refuses in a name: @actions/artifact, path-and-artifact-name-validation.ts. */
const NOT_IN_ARTIFACT_NAMES = /["\r\n:<>|*?\\/]/;

function readArtifactName(fields: InputFields): string | undefined {
  const name = fields.label('artifact-name');
  if (name !== undefined && NOT_IN_ARTIFACT_NAMES.test(name))
    fields.fault(
      'artifact-name',
      'has a character that artifact names cannot have',
      'Leave out " : < > | * ? \\ and /.',
    );
  return name;
}

/** GitHub keeps artifacts for 1 to 400 days; the repository's own limit is applied by the client. */
function readRetentionDays(fields: InputFields): number | undefined {
  const text = fields.text('retention-days');
  if (text === '') return undefined;
  const days = Number(text);
  if (!/^[0-9]+$/.test(text) || days < 1 || days > 400)
    fields.fault(
      'retention-days',
      'is no number of days between 1 and 400',
      'Leave it out for the repository default.',
    );
  return days;
}

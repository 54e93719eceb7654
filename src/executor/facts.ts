import type { Cwd, Gap, ProgramFile, RequestedOnly } from '../contract/index.ts';
import type { BindFailed, BoundFacts } from '../launch/index.ts';
import type { Redactor } from '../redact/index.ts';

/** Facts of the launcher as they may be stored: every text that came from outside has passed the redactor. */
export interface StorableFacts {
  readonly cwd: Cwd;
  readonly executable: ProgramFile;
  readonly interpreters: ProgramFile[];
  readonly script?: NonNullable<BoundFacts['script']>;
  readonly argv: string[];
}

export function storable(facts: BoundFacts, redactor: Redactor): StorableFacts {
  return {
    cwd: redactCwd(facts.cwd, redactor),
    executable: redactProgram(facts.executable, redactor),
    interpreters: facts.interpreters.map((interpreter) => redactProgram(interpreter, redactor)),
    ...(facts.script && {
      script: {
        ...facts.script,
        ...(facts.script.shebang !== undefined && { shebang: redactor.text(facts.script.shebang) }),
      },
    }),
    argv: redactor.argv(facts.argv),
  };
}

export function storableFailure(failed: BindFailed, redactor: Redactor) {
  return {
    cwd: 'method' in failed.cwd ? redactCwd(failed.cwd, redactor) : redactRequested(failed.cwd, redactor),
    executable:
      'binding' in failed.executable
        ? redactProgram(failed.executable, redactor)
        : redactRequested(failed.executable, redactor),
  };
}

export function redactGaps(gaps: readonly Gap[], redactor: Redactor): Gap[] {
  return gaps.map((gap) => (gap.detail === undefined ? gap : { ...gap, detail: redactor.text(gap.detail) }));
}

function redactRequested(value: RequestedOnly, redactor: Redactor): RequestedOnly {
  return { requested: redactor.text(value.requested) };
}

function redactCwd(cwd: Cwd, redactor: Redactor): Cwd {
  return {
    ...cwd,
    requested: redactor.text(cwd.requested),
    resolved: cwd.resolved === null ? null : redactor.text(cwd.resolved),
  };
}

function redactProgram(program: ProgramFile, redactor: Redactor): ProgramFile {
  return {
    ...program,
    requested: redactor.text(program.requested),
    path: program.path === null ? null : redactor.text(program.path),
    binding: {
      ...program.binding,
      attempts: program.binding.attempts.map((attempt) =>
        attempt.reason === undefined ? attempt : { ...attempt, reason: redactor.text(attempt.reason) },
      ),
    },
  };
}

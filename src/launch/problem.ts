import type { Cwd, ErrorCode, ProgramFile, RequestedOnly } from '../contract/index.ts';
import type { BindFailed } from './types.ts';

export interface ProblemDetails {
  readonly where?: string;
  readonly next?: string;
  readonly errno?: string;
}

/** Ends a bind from any depth; `failed` turns it into the interface's `BindFailed`. Never leaves `src/launch`. */
export class BindProblem extends Error {
  override readonly name = 'BindProblem';
  readonly kind: BindFailed['kind'];
  readonly code: ErrorCode;
  readonly details: ProblemDetails;

  constructor(kind: BindFailed['kind'], code: ErrorCode, message: string, details: ProblemDetails = {}) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.details = details;
  }
}

export function refused(code: ErrorCode, message: string, details?: ProblemDetails): BindProblem {
  return new BindProblem('refused', code, message, details);
}

export function startFailed(code: ErrorCode, message: string, details?: ProblemDetails): BindProblem {
  return new BindProblem('start-failed', code, message, details);
}

export function failed(
  problem: BindProblem,
  cwd: Cwd | RequestedOnly,
  executable: ProgramFile | RequestedOnly,
): BindFailed {
  return {
    ok: false,
    kind: problem.kind,
    code: problem.code,
    message: problem.message,
    ...problem.details,
    cwd,
    executable,
  };
}

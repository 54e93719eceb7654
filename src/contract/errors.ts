/**
 * Every failure that a person or a script meets carries one code of this closed list, what happened, where
 * (a field, file or line), and what to do next. Tests assert the code, never the sentence.
 */
export type ErrorCode =
  | 'USAGE'
  | 'ARGV_INVALID'
  | 'CWD_NOT_FOUND'
  | 'CWD_NOT_A_DIRECTORY'
  | 'CWD_ESCAPES'
  | 'CWD_UNREADABLE'
  | 'PROGRAM_NOT_FOUND'
  | 'PROGRAM_NOT_EXECUTABLE'
  | 'PROGRAM_IS_DIRECTORY'
  | 'SCRIPT_INVALID'
  | 'BINDING_REFUSED'
  | 'SPAWN_FAILED'
  | 'POLICY_UNREADABLE'
  | 'POLICY_INVALID'
  | 'POLICY_DENIED'
  | 'STORE_UNWRITABLE'
  | 'STORE_CORRUPT'
  | 'TASK_CLOSED'
  | 'TASK_NOT_FOUND'
  | 'RECEIPT_NOT_FOUND'
  | 'HOME_UNWRITABLE'
  | 'KEY_PERMISSIONS'
  | 'KEY_EXPOSED'
  | 'KEY_INVALID'
  | 'TRUST_INVALID'
  | 'INPUT_UNREADABLE'
  | 'INPUT_TOO_LARGE'
  | 'MALFORMED'
  | 'SCHEMA_UNSUPPORTED'
  | 'REDACTION_FAILED'
  | 'UPLOAD_FAILED'
  | 'PLATFORM_UNSUPPORTED'
  | 'INTERNAL';

export interface ErrorDetails {
  /** The file, field (JSON pointer) or `file:line:column` concerned. */
  readonly where?: string;
  /** What the reader can do about it, as an imperative sentence. */
  readonly next?: string;
  /** The system's own code, for example `ENOSPC`. */
  readonly errno?: string;
  readonly cause?: unknown;
}

export class ReceiptsError extends Error {
  override readonly name = 'ReceiptsError';
  readonly code: ErrorCode;
  readonly where: string | undefined;
  readonly next: string | undefined;
  readonly errno: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.where = details.where;
    this.next = details.next;
    this.errno = details.errno;
  }
}

/** The `code` of a Node system error (`ENOENT`), or undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Anything but our own errors is a fault of ours: INTERNAL, and the stack says where. */
export function asReceiptsError(error: unknown): ReceiptsError {
  if (error instanceof ReceiptsError) return error;
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new ReceiptsError('INTERNAL', message, { cause: error });
}

/** What happened, where, and what to do next, each on a line of its own. */
export function errorLines({ message, where, next }: ReceiptsError): string[] {
  return [message, ...(where === undefined ? [] : [`at ${where}`]), ...(next === undefined ? [] : [next])];
}

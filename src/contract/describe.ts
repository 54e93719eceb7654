import type { Termination } from './schema/index.ts';

/** How a command ended, in a few words. Texts in it are the receipt's: whoever prints them makes them visible first. */
export function describeTermination(termination: Termination): string {
  switch (termination.kind) {
    case 'exited':
      return `exited ${termination.exitCode}`;
    case 'signaled':
      return `ended by ${termination.signal}${termination.coreDumped ? ', core dumped' : ''}`;
    case 'timed-out':
      return `timed out (${termination.signal ?? `exited ${termination.exitCode ?? 'unknown'}`})`;
    case 'refused':
      return `refused (${termination.code})`;
    case 'start-failed':
      return `did not start (${termination.code})`;
    case 'unknown':
      return `end unknown, first missing stage ${termination.missingStage}`;
  }
}

/**
 * Text out of evidence is shown on a terminal, and whoever wrote the command chose it: what could move the cursor, recolour,
 * hide or reorder the text is spelled out instead.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** A vector as a person would type it for a POSIX shell. Like all such texts it is made visible before it is shown. */
export function shellWords(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/** How far a process that signs can be looked into; launch's `protectProcess` reports it. */
interface Exposure {
  readonly dumpable: boolean;
  readonly inspectorOpen: boolean;
  readonly unprotectedReason?: string;
}

/** Who else can read the signing key, in one sentence; undefined where nobody can. */
export function describeExposure({ dumpable, inspectorOpen, unprotectedReason }: Exposure): string | undefined {
  if (inspectorOpen) return "Node's inspector is open in this process: whoever connects to it reads the signing key";
  if (!dumpable) return undefined;
  const reason = unprotectedReason === undefined ? '' : ` (${unprotectedReason})`;
  return `other processes of this user can read the signing key in this one's memory${reason}`;
}

/**
 * Threat: in `#!/usr/bin/env node` it is `env` that searches PATH for the program, after every digest. So where the
 * line is simple, what `env` would do is done here, and the program it would have found is pinned and started itself.
 * "Simple" is what can be read without knowing env's option parser or its quoting; anything else keeps `env`.
 */
export interface EnvForm {
  readonly assignments: ReadonlyArray<readonly [name: string, value: string]>;
  readonly program: string;
  readonly args: readonly string[];
}

const ENV_PATHS: ReadonlySet<string> = new Set(['/usr/bin/env', '/bin/env']);
/** Characters that env's `-S` neither quotes, escapes, expands nor takes for a comment. */
const PLAIN = /^[A-Za-z0-9_./:=,@%+\- \t]+$/;
const ASSIGNMENT = /^([^=]+)=(.*)$/;

export function isEnv(interpreter: string): boolean {
  return ENV_PATHS.has(interpreter);
}

/** Undefined where `env` itself has to run. */
export function readEnvForm(argument: string | undefined): EnvForm | undefined {
  if (argument === undefined) return undefined;
  const split = /^(?:-S|--split-string=)(.*)$/s.exec(argument)?.[1];
  if (split === undefined) {
    if (argument.startsWith('-') || argument.includes('=')) return undefined;
    return { assignments: [], program: argument, args: [] };
  }
  if (!PLAIN.test(split)) return undefined;
  const words = split.split(/[ \t]+/).filter((word) => word !== '');
  const assignments: Array<readonly [string, string]> = [];
  for (const [index, word] of words.entries()) {
    const assignment = ASSIGNMENT.exec(word);
    if (!assignment)
      return word.startsWith('-') ? undefined : { assignments, program: word, args: words.slice(index + 1) };
    assignments.push([assignment[1] ?? '', assignment[2] ?? '']);
  }
  return undefined;
}

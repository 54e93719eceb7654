import { refused } from './problem.ts';
import type { BindRequest } from './types.ts';

/** Where a shell's arguments name the script, as in the runner's `shell: bash {0}`. */
const SCRIPT_PLACE = '{0}';

/** The name to resolve and the vector that follows it. For a shell text `{0}` is still in place. */
export function requestedVector(program: BindRequest['program']): readonly [string, ...string[]] {
  if (program.mode === 'shell') return [program.shell, ...program.args];
  const [name, ...rest] = program.argv;
  return [name ?? '', ...rest];
}

/** What the kernel could only cut short or misread is refused before anything is opened. Empty later elements are legal. */
export function validateRequest(request: BindRequest): void {
  const vector = requestedVector(request.program);
  if (vector[0] === '')
    throw refused('ARGV_INVALID', 'The command is empty.', { where: '/argv/0', next: 'Name a program.' });
  vector.forEach((argument, index) => {
    if (argument.includes('\0')) throw nul(`/argv/${index}`, 'An argument');
  });
  const { workspace, requested } = request.cwd;
  if (workspace.includes('\0') || requested.includes('\0')) {
    throw refused('CWD_NOT_FOUND', 'The directory’s path contains a NUL byte, so nothing can have that name.', {
      where: '/cwd',
    });
  }
  for (const [name, value] of request.environment) {
    if (name.includes('\0') || value.includes('\0')) throw nul('/environment', `The variable ${JSON.stringify(name)}`);
  }
  if (request.program.mode === 'shell' && !request.program.args.some((argument) => argument.includes(SCRIPT_PLACE))) {
    throw refused('SCRIPT_INVALID', `The shell's arguments do not say where the script's path goes.`, {
      where: '/shell/args',
      next: `Write ${SCRIPT_PLACE} where the path belongs, for example: bash -e ${SCRIPT_PLACE}`,
    });
  }
}

export function placeScript(args: readonly string[], path: string): string[] {
  return args.map((argument) => argument.replaceAll(SCRIPT_PLACE, () => path));
}

/** The first value wins, as for `getenv`. */
export function lookUp(environment: BindRequest['environment'], name: string): string | undefined {
  return environment.find(([candidate]) => candidate === name)?.[1];
}

function nul(where: string, what: string): Error {
  return refused('ARGV_INVALID', `${what} contains a NUL byte, at which the system would cut it off.`, {
    where,
    next: 'Remove the NUL byte.',
  });
}

import { spawn } from 'node:child_process';
import { errnoOf, type Gap, type ProgramFile, ReceiptsError } from '../../contract/index.ts';
import { BindProblem, failed, refused } from '../problem.ts';
import { lookUp, placeScript, requestedVector, validateRequest } from '../request.ts';
import type { BindOutcome, BindRequest, Bound, BoundFacts, Launcher, Running } from '../types.ts';
import { resolveDirectory } from './cwd.ts';
import { PortableProcess } from './process.ts';
import { describeProgram, findProgramPath } from './program.ts';
import { type TextFile, writeText } from './text.ts';

/** child_process behind the same interface: it runs everywhere, binds nothing, and every receipt of it says so. */
export function portableLauncher(reason: string): Launcher {
  return { kind: 'portable', unboundReason: reason, bind: async (request) => bind(request, reason) };
}

type Directory = ReturnType<typeof resolveDirectory>;

function bind(request: BindRequest, reason: string): BindOutcome {
  const requested = requestedVector(request.program)[0];
  let directory: Directory | undefined;
  try {
    validateRequest(request);
    directory = resolveDirectory(request.cwd.workspace, request.cwd.requested);
    if (!request.bindingOrder.includes('none')) throw cannotBind(reason);
    const path = findProgramPath(requested, (name) => lookUp(request.environment, name), directory.resolved);
    const executable = describeProgram(requested, path, request.bindingOrder, reason);
    return bound(request, directory, executable, requested.includes('/') ? requested : path, reason);
  } catch (error) {
    if (!(error instanceof BindProblem)) throw error;
    return failed(error, directory ?? { requested: request.cwd.requested }, { requested });
  }
}

function cannotBind(reason: string): BindProblem {
  return refused('BINDING_REFUSED', `The policy wants the program bound, and that cannot be: ${reason}.`, {
    where: '/executable/binding',
    next: 'Run it on Linux, or permit the binding method `none`.',
  });
}

function bound(request: BindRequest, cwd: Directory, executable: ProgramFile, path: string, reason: string): Bound {
  const { program } = request;
  const text = program.mode === 'shell' ? writeText(program.shell, program.text) : undefined;
  const argv = vectorFor(program, text);
  return {
    ok: true,
    facts: factsOf(cwd, executable, argv, text, reason),
    start: () => start(path, argv, cwd, request),
    release: () => text?.remove(),
  };
}

function vectorFor(program: BindRequest['program'], text: TextFile | undefined): readonly [string, ...string[]] {
  if (program.mode === 'argv' || !text) return requestedVector(program);
  return [program.shell, ...placeScript(program.args, text.path)];
}

function factsOf(
  cwd: Directory,
  executable: ProgramFile,
  argv: readonly string[],
  text: TextFile | undefined,
  detail: string,
): BoundFacts {
  const gaps: Gap[] = [
    { field: '/executable', reason: 'platform-unbound', detail },
    { field: '/cwd', reason: 'cwd-unbound', detail },
    { field: '/executable', reason: 'first-exec' },
  ];
  if (executable.kind === 'elf') gaps.push({ field: '/executable', reason: 'dynamic-loader-unbound' });
  const isScript = text !== undefined || executable.kind === 'script';
  const script = isScript ? { script: { mode: 'unbound' as const } } : {};
  return { cwd, executable, interpreters: [], ...script, argv, flags: ['UNBOUND_CWD', 'UNBOUND_EXECUTABLE'], gaps };
}

/** The error event comes too late to be thrown, so a spawn without a pid says only that it failed. */
function start(path: string, argv: readonly string[], cwd: Directory, request: BindRequest): Running {
  const environment: Record<string, string> = {};
  for (const [name, value] of request.environment) environment[name] ??= name === 'PWD' ? cwd.resolved : value;
  try {
    const child = spawn(path, argv.slice(1), {
      argv0: argv[0] ?? path,
      cwd: cwd.resolved,
      env: environment,
      stdio: ['inherit', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    child.on('error', () => {});
    if (child.pid === undefined) throw spawnFailed(argv[0] ?? path, undefined);
    return new PortableProcess(child, child.pid);
  } catch (error) {
    throw error instanceof ReceiptsError ? error : spawnFailed(argv[0] ?? path, errnoOf(error));
  }
}

function spawnFailed(program: string, errno: string | undefined): ReceiptsError {
  return new ReceiptsError(
    'SPAWN_FAILED',
    `${JSON.stringify(program)} could not be started (${errno ?? 'the system refused'}).`,
    {
      where: '/executable',
      next: 'Look at its permissions, its interpreter and the size of its arguments.',
      ...(errno ? { errno } : {}),
    },
  );
}

import type { BindingMethod, Script } from '../../../contract/index.ts';
import { BindProblem, refused, startFailed } from '../../problem.ts';
import { lookUp } from '../../request.ts';
import type { BindRequest } from '../../types.ts';
import { type Pinned, pin } from '../binding/index.ts';
import type { BoundDirectory } from '../cwd.ts';
import { readAt } from '../elf.ts';
import { type Found, findProgram, openProgram } from '../lookup.ts';
import { isEnv, readEnvForm } from './env-form.ts';
import { parseShebang, SHEBANG_BYTES, type Shebang } from './shebang.ts';

/**
 * Threat: the kernel reads a script's first line, and `env` searches PATH, after our digest; in between both can be
 * made to choose another interpreter. So the chain is walked here, every file of it pinned, and only its last, an ELF,
 * is started. Scripts are `watched`: read by their own path, under a lease, every directory of that path watched from
 * before the digest to the end (`watch.ts`).
 */
export interface Chain {
  /** Outermost first: the executable asked for, then its interpreters. Exec starts the last. */
  readonly pins: readonly Pinned[];
  readonly argv: readonly string[];
  readonly environment: BindRequest['environment'];
  readonly script?: Script;
  /** `env` is left to search PATH by itself. */
  readonly envSearches: boolean;
}

export interface ChainRequest {
  readonly argv: readonly [string, ...string[]];
  readonly environment: BindRequest['environment'];
  readonly order: readonly BindingMethod[];
  readonly programsDirectory: string;
  readonly directory: BoundDirectory;
  /** Every pin as soon as it exists, so that the caller can report and release it whatever follows. */
  readonly pinned: (pin: Pinned) => void;
}

/** The kernel's own depth: exec of the sixth script in a row answers ELOOP. `env` and `sh` start a new count. */
const KERNEL_DEPTH = 5;
/** Where `env` re-enters, a circle has no end. */
const LONGEST_CHAIN = 20;
/** What `execvp` starts for a file that the kernel cannot execute. */
const FALLBACK_SHELL = '/bin/sh';

interface Step {
  readonly name: string;
  readonly search: boolean;
  /** Replaces argv[0]; the script's path follows. */
  readonly prefix: readonly string[];
  readonly environment: BindRequest['environment'];
  readonly envSearches: boolean;
  readonly newExec: boolean;
}

export async function bindChain(request: ChainRequest): Promise<Chain> {
  let current = await pinNext(
    request,
    request.argv[0],
    find(request.argv[0], true, request.environment, request.directory),
  );
  const pins = [current];
  let { environment } = request;
  let argv: readonly string[] = request.argv;
  let envSearches = false;
  let script: Script | undefined;
  for (let depth = 1; current.kind.kind !== 'elf'; depth++) {
    if (depth > KERNEL_DEPTH || pins.length > LONGEST_CHAIN) throw tooDeep(current);
    const shebang = shebangOf(current, depth);
    const step = nextStep(shebang, environment);
    if (step.envSearches && !request.order.includes('none')) throw envUnbound(current);
    script ??= { mode: current.unbound ? 'unbound' : 'watched', ...(shebang ? { shebang: shebang.line } : {}) };
    argv = [...step.prefix, current.found.path, ...argv.slice(1)];
    environment = step.environment;
    envSearches ||= step.envSearches;
    if (step.newExec) depth = 0;
    current = await pinInterpreter(request, step, current, shebang);
    pins.push(current);
  }
  return { pins, argv, environment, envSearches, ...(script ? { script } : {}) };
}

function shebangOf(script: Pinned, depth: number): Shebang | undefined {
  const shebang = script.kind.kind === 'script' ? parseShebang(readAt(script.readFd, 0, SHEBANG_BYTES)) : undefined;
  if (shebang || (script.kind.kind === 'script' && depth === 1)) return shebang;
  throw startFailed(
    'PROGRAM_NOT_EXECUTABLE',
    `${JSON.stringify(script.found.path)} is neither a program for this machine nor a script.`,
    {
      where: '/executable',
      errno: 'ENOEXEC',
    },
  );
}

function nextStep(shebang: Shebang | undefined, environment: BindRequest['environment']): Step {
  const plain = { search: false, environment, envSearches: false, newExec: false };
  if (!shebang) return { ...plain, name: FALLBACK_SHELL, prefix: [FALLBACK_SHELL], newExec: true };
  const { interpreter, argument } = shebang;
  const prefix = argument === undefined ? [interpreter] : [interpreter, argument];
  if (!isEnv(interpreter)) return { ...plain, name: interpreter, prefix };
  const form = readEnvForm(argument);
  if (!form) return { ...plain, name: interpreter, prefix, envSearches: true };
  return {
    name: form.program,
    search: true,
    prefix: [form.program, ...form.args],
    environment: assign(environment, form.assignments),
    envSearches: false,
    newExec: true,
  };
}

function assign(
  environment: BindRequest['environment'],
  assignments: BindRequest['environment'],
): BindRequest['environment'] {
  const names = new Set(assignments.map(([name]) => name));
  return [...environment.filter(([name]) => !names.has(name)), ...assignments];
}

async function pinInterpreter(
  request: ChainRequest,
  step: Step,
  script: Pinned,
  shebang: Shebang | undefined,
): Promise<Pinned> {
  let found: Found;
  try {
    found = find(step.name, step.search, step.environment, request.directory);
  } catch (error) {
    throw error instanceof BindProblem ? aboutInterpreter(error, script, shebang) : error;
  }
  return pinNext(request, step.name, found);
}

async function pinNext(request: ChainRequest, requested: string, found: Found): Promise<Pinned> {
  const { order, programsDirectory } = request;
  const next = await pin(found, { requested, order, programsDirectory });
  request.pinned(next);
  return next;
}

function find(
  name: string,
  search: boolean,
  environment: BindRequest['environment'],
  directory: BoundDirectory,
): Found {
  return search ? findProgram(name, lookUp(environment, 'PATH'), directory) : openProgram(name, directory);
}

function aboutInterpreter(problem: BindProblem, script: Pinned, shebang: Shebang | undefined): BindProblem {
  const next = shebang?.line.endsWith('\r')
    ? 'The first line ends with a carriage return: save the script with Unix line endings.'
    : problem.details.next;
  const message = `The interpreter of ${JSON.stringify(script.found.path)}: ${problem.message}`;
  return new BindProblem(problem.kind, problem.code, message, { ...problem.details, ...(next ? { next } : {}) });
}

function envUnbound(script: Pinned): BindProblem {
  return refused(
    'BINDING_REFUSED',
    `Which program ${JSON.stringify(script.found.path)} gets from env cannot be known beforehand.`,
    {
      where: '/interpreters',
      next: 'Write the first line as `#!/usr/bin/env program`, or permit the binding method `none`.',
    },
  );
}

function tooDeep(script: Pinned): BindProblem {
  return refused('SCRIPT_INVALID', `${JSON.stringify(script.found.path)} is one interpreter script too many.`, {
    where: '/interpreters',
    errno: 'ELOOP',
    next: 'Name a program as the interpreter, not another script.',
  });
}

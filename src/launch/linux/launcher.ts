import { closeSync, statSync } from 'node:fs';
import { type Flag, type Gap, ReceiptsError } from '../../contract/index.ts';
import { BindProblem, failed } from '../problem.ts';
import { lookUp, placeScript, requestedVector, validateRequest } from '../request.ts';
import type { BindOutcome, BindRequest, Bound, BoundFacts, Launcher, Running, StartOptions } from '../types.ts';
import type { Pinned } from './binding/index.ts';
import { type BoundDirectory, bindDirectory } from './cwd.ts';
import { inheritedFileLimit } from './limits.ts';
import { LinuxProcess } from './process.ts';
import { awaitChildren } from './reaper.ts';
import { bindChain, type Chain } from './script/chain.ts';
import { type SealedText, sealText } from './script/text.ts';
import { spawnBound } from './spawn.ts';
import { foregroundTerminal } from './terminal.ts';

/** Everything one launch holds open; given back in one place, whatever happened. */
interface Held {
  directory?: BoundDirectory;
  text?: SealedText;
  readonly pins: Pinned[];
  running?: LinuxProcess;
}

export function linuxLauncher(): Launcher {
  const fileLimit = inheritedFileLimit();
  return { kind: 'linux', bind: (request) => bind(request, fileLimit) };
}

async function bind(request: BindRequest, fileLimit: bigint | undefined): Promise<BindOutcome> {
  const held: Held = { pins: [] };
  try {
    validateRequest(request);
    const { workspace, requested } = request.cwd;
    const directory = bindDirectory(workspace, requested);
    held.directory = directory;
    if (request.program.mode === 'shell') held.text = sealText(request.program.text);
    const chain = await bindChain({
      argv: vectorFor(request.program, held.text),
      environment: request.environment,
      order: request.bindingOrder,
      programsDirectory: request.programsDirectory,
      directory,
      pinned: (pin) => held.pins.push(pin),
    });
    return bound(request, held, directory, chain, fileLimit);
  } catch (error) {
    const cwd = held.directory?.facts ?? { requested: request.cwd.requested };
    release(held);
    if (!(error instanceof BindProblem)) throw error;
    const program = requestedVector(request.program)[0];
    return failed(error, cwd, held.pins[0]?.facts ?? { requested: program });
  }
}

function vectorFor(program: BindRequest['program'], text: SealedText | undefined): readonly [string, ...string[]] {
  if (program.mode === 'argv' || !text) return requestedVector(program);
  return [program.shell, ...placeScript(program.args, text.path)];
}

function bound(
  request: BindRequest,
  held: Held,
  directory: BoundDirectory,
  chain: Chain,
  fileLimit: bigint | undefined,
): Bound {
  let started = false;
  return {
    ok: true,
    facts: factsOf(request, directory, chain),
    start(options) {
      if (started) throw new ReceiptsError('INTERNAL', 'A bound command is started once.');
      started = true;
      held.running = start(held, directory, chain, fileLimit, options);
      return held.running;
    },
    release: () => release(held),
  };
}

function factsOf(request: BindRequest, directory: BoundDirectory, chain: Chain): BoundFacts {
  const [executable, ...interpreters] = chain.pins.map((pin) => pin.facts);
  if (!executable) throw new ReceiptsError('INTERNAL', 'A chain has at least its executable.');
  const script = request.program.mode === 'shell' ? ({ mode: 'sealed' } as const) : chain.script;
  const flags: Flag[] = chain.pins.some((pin) => pin.unbound) || chain.envSearches ? ['UNBOUND_EXECUTABLE'] : [];
  const { argv } = chain;
  return {
    cwd: directory.facts,
    executable,
    interpreters,
    ...(script ? { script } : {}),
    argv,
    flags,
    gaps: gapsOf(directory, chain),
  };
}

function gapsOf(directory: BoundDirectory, chain: Chain): Gap[] {
  const gaps: Gap[] = [];
  const last = chain.pins.at(-1);
  if (last?.kind.kind === 'elf' && last.kind.dynamic)
    gaps.push({ field: '/executable', reason: 'dynamic-loader-unbound' });
  gaps.push({ field: '/executable', reason: 'first-exec' });
  if (directory.facts.mountId === null) gaps.push({ field: '/cwd/mountId', reason: 'not-observed' });
  return gaps;
}

function start(
  held: Held,
  directory: BoundDirectory,
  chain: Chain,
  fileLimit: bigint | undefined,
  options: StartOptions,
): Running & LinuxProcess {
  const last = chain.pins.at(-1);
  if (!last) throw new ReceiptsError('INTERNAL', 'A chain has at least its executable.');
  for (const pin of chain.pins) {
    const state = pin.state('between');
    if (state.kind === 'changed' || (state.kind === 'lost' && !pin.mayBeUnbound))
      throw changedSinceBind(pin, state.why);
  }
  awaitChildren();
  const terminal = foregroundTerminal();
  const spawned = spawnBound({
    execFd: last.fd,
    argv: chain.argv,
    environment: environmentFor(chain, directory),
    cwdFd: directory.fd,
    handedOver: held.text ? [held.text.fd] : [],
    fileLimit,
    terminal,
  });
  return new LinuxProcess({ spawned, startedNs: process.hrtime.bigint(), pins: chain.pins, terminal }, options);
}

/** PWD is kept where it names the bound directory (through a link, say), else set to the directory's own path. */
function environmentFor(chain: Chain, directory: BoundDirectory): string[] {
  const given = lookUp(chain.environment, 'PWD');
  const pwd = given !== undefined && isDirectory(given, directory) ? given : directory.resolved;
  return chain.environment.map(([name, value]) => (name === 'PWD' ? `PWD=${pwd}` : `${name}=${value}`));
}

function isDirectory(path: string, directory: BoundDirectory): boolean {
  if (!path.startsWith('/')) return false;
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats !== undefined && `${stats.dev}` === directory.facts.device && `${stats.ino}` === directory.facts.inode;
}

function changedSinceBind(pin: Pinned, why: string): ReceiptsError {
  return new ReceiptsError(
    'BINDING_REFUSED',
    `${JSON.stringify(pin.found.path)} changed after it was bound (${why}); nothing was started.`,
    {
      where: '/executable',
      next: 'Find out what rewrites the file, and run the command again.',
    },
  );
}

function release(held: Held): void {
  for (const pin of held.pins) pin.release();
  if (held.directory) closeSync(held.directory.fd);
  if (held.text) closeSync(held.text.fd);
  held.running?.abandonUnread();
  delete held.directory;
  delete held.text;
}

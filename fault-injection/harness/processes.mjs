import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Processes that this harness started and has not seen the end of, by pid. */
const running = new Map();

/**
 * Starts a process whose console goes to files: the harness may then spin without anyone waiting for a pipe, and what was
 * shown can be searched like everything that was stored.
 */
export function start(argv, { cwd, env, consoleDirectory }) {
  const [stdout, stderr] = ['stdout', 'stderr'].map((name) => join(consoleDirectory, `console.${name}`));
  const fds = [openSync(stdout, 'w', 0o600), openSync(stderr, 'w', 0o600)];
  const child = spawn(argv[0], argv.slice(1), { cwd, env, stdio: ['ignore', ...fds] });
  for (const fd of fds) closeSync(fd);
  running.set(child.pid, child);
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => {
      running.delete(child.pid);
      resolve({ exitCode, signal });
    });
  });
  return { pid: child.pid, ended, console: { stdout, stderr } };
}

/** Runs a process to its end. Its answer goes through files, so that no full pipe can shorten it. */
export function runToEnd(argv, { cwd, env, scratch, timeoutMs = 60_000 }) {
  const paths = ['stdout', 'stderr'].map((name) => join(scratch, `answer.${name}`));
  const fds = paths.map((path) => openSync(path, 'w', 0o600));
  const result = spawnSync(argv[0], argv.slice(1), { cwd, env, stdio: ['ignore', ...fds], timeout: timeoutMs });
  for (const fd of fds) closeSync(fd);
  if (result.error) throw result.error;
  const [stdout, stderr] = paths.map((path) => readFileSync(path, 'utf8'));
  return { exitCode: result.status, stdout, stderr };
}

/** Ends what is left, each by its own pid: what an executor runs goes first, since nobody else would know it then. */
export function endAll() {
  for (const [pid, child] of running) {
    for (const grandchild of childrenOf(pid)) killPid(grandchild);
    child.kill('SIGKILL');
  }
  running.clear();
}

function childrenOf(pid) {
  return readProc(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function killPid(pid) {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** Ends a process that an executor left behind, if that pid still is the one meant. */
export function endOrphan(pid, mark) {
  return isAlive(pid) && readProc(pid, 'cmdline').includes(mark) && killPid(pid);
}

/** A zombie has ended: libuv cannot collect it while the harness spins. */
export function isAlive(pid) {
  const stat = readProc(pid, 'stat');
  return stat !== '' && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

function readProc(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Runs `step` without ever giving the processor back until it says yes: an attacker does not yield either. */
export function spin(step, limitMs) {
  const end = Date.now() + limitMs;
  while (Date.now() < end) if (step()) return true;
  return false;
}

/** Polls with pauses, for what is not a race. */
export async function eventually(probe, limitMs = 10_000) {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = probe();
    if (value) return value;
    if (Date.now() > end) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd, start } from './processes.mjs';

/**
 * What is put under a fault: the built product or the naive executor. Both have one command line (`run`, `verify --json`,
 * `recover`), so that an injector and its predicate cannot tell which of them stands before them.
 */
export function subjectFor({ name, cli, work }) {
  const home = join(work, 'home');
  mkdirSync(home, { recursive: true });
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    COMMAND_RECEIPTS_HOME: home,
    LANG: 'C.UTF-8',
    TMPDIR: work,
  };
  const receipts = (args) => runToEnd([process.execPath, cli, ...args], { cwd: work, env: environment, scratch: work });
  return {
    name,
    home,
    /** Starts `run`; `place` is a directory of this round alone and gets the console. */
    start({ place, argv, options = [], env = {}, cwd = place, store = join(place, 'store') }) {
      const words = [process.execPath, cli, 'run', '--store', store, ...options, '--', ...argv];
      return { store, ...start(words, { cwd, env: { ...environment, ...env }, consoleDirectory: place }) };
    },
    async run(request) {
      const started = this.start(request);
      return { ...started, ...(await started.ended) };
    },
    verify: (paths) => verification(receipts(['verify', '--json', ...paths])),
    verifyExitCode: (path) => receipts(['verify', path]).exitCode,
    recover: (store) => receipts(['recover', '--store', store]),
    close: (task, store) => receipts(['close', '--store', store, task]),
  };
}

/** The verdicts of one `verify --json` over many places, and what it says about each. */
function verification({ exitCode, stdout, stderr }) {
  if (![0, 1, 2].includes(exitCode) || stdout === '')
    throw new Error(`verify ended with ${exitCode} and no answer: ${stderr}`);
  const { chains, errors } = JSON.parse(stdout);
  const clean = errors.length === 0 && chains.every(({ verified }) => verified);
  if (clean !== (exitCode === 0))
    throw new Error(`verify ended with ${exitCode} and says ${clean ? 'verified' : 'not verified'}`);
  return { exitCode, of: (place) => verdictOn(place, chains, errors) };
}

function verdictOn(place, chains, errors) {
  const own = chains.filter(({ path }) => path === place || path.startsWith(`${place}/`));
  const problems = own.flatMap((chain) => [
    ...chain.problems,
    ...chain.receipts.flatMap((receipt) => receipt.problems),
  ]);
  return {
    verified: own.length > 0 && own.every(({ verified }) => verified),
    problems,
    codes: new Set(problems.map(({ code }) => code)),
    unsealed: own.flatMap((chain) => chain.unsealed),
    errors: errors.filter(({ path }) => path === place),
  };
}

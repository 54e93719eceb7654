// npm run -s fault-injection [-- CLASS...] [--full]: injects every class of faults into the built product, run as a real
// process, and into a naive executor as the control. RECEIPTS_DIST names another build than <repo>/dist.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { memoryDirectory } from './harness/memory.mjs';
import { endAll } from './harness/processes.mjs';
import { unmountAll } from './harness/small-disk.mjs';
import { subjectFor } from './harness/subject.mjs';
import { printCases, printTable } from './harness/table.mjs';
import { cwdSwapped } from './injectors/cwd-swapped.mjs';
import { evidenceAltered } from './injectors/evidence-altered.mjs';
import { executorKilled } from './injectors/executor-killed.mjs';
import { killed } from './injectors/killed.mjs';
import { outputFlood } from './injectors/output-flood.mjs';
import { secretSplit } from './injectors/secret-split.mjs';
import { storeFull } from './injectors/store-full.mjs';
import { targetReplaced } from './injectors/target-replaced.mjs';

const INJECTORS = [
  secretSplit,
  outputFlood,
  killed,
  targetReplaced,
  cwdSwapped,
  executorKilled,
  storeFull,
  evidenceAltered,
];
const FULL_FACTOR = 10;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { full: { type: 'boolean' }, verbose: { type: 'boolean' } },
});
const work = mkdtempSync(join(tmpdir(), 'receipts-faults-'));
const memory = memoryDirectory(work);
const executors = {
  product: join(process.env.RECEIPTS_DIST || fileURLToPath(new URL('../dist', import.meta.url)), 'cli.js'),
  control: fileURLToPath(new URL('./naive/executor.mjs', import.meta.url)),
};

function chosen() {
  const unknown = positionals.filter((name) => !INJECTORS.some((injector) => injector.name === name));
  if (unknown.length === 0)
    return positionals.length === 0 ? INJECTORS : INJECTORS.filter(({ name }) => positionals.includes(name));
  console.error(`no such class: ${unknown.join(', ')}. There are: ${INJECTORS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

async function inject(injector, role) {
  const [place, fast] = [work, memory].map((directory) => join(directory, injector.name, role));
  for (const directory of [place, fast]) mkdirSync(directory, { recursive: true });
  const subject = subjectFor({ name: role, cli: executors[role], work: place });
  const full = Boolean(options.full);
  const context = {
    subject,
    work: place,
    memory: fast,
    control: role === 'control',
    full,
    factor: full ? FULL_FACTOR : 1,
  };
  try {
    return await injector.run(context);
  } catch (error) {
    const message = `the injector failed: ${error.stack}`;
    return {
      rounds: 0,
      held: false,
      violations: [{ case: '-', round: 0, message }],
      detail: { cases: [], harmless: ['-'] },
    };
  } finally {
    cleanUp([place, fast]);
  }
}

function cleanUp(directories) {
  endAll();
  unmountAll();
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}

/** The defence holds, and every case of the control shows what it is a defence against. */
async function judge(injector) {
  const begin = Date.now();
  const reason = injector.unavailable?.();
  if (reason) return { injector, skipped: reason, ok: true, seconds: 0 };
  const product = await inject(injector, 'product');
  const control = await inject(injector, 'control');
  const ok = product.held && !control.held && control.detail.harmless.length === 0;
  return { injector, product, control, ok, seconds: (Date.now() - begin) / 1000 };
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
process.once('exit', () => cleanUp([work, memory]));

const results = [];
for (const injector of chosen()) {
  const result = await judge(injector);
  results.push(result);
  if (options.verbose) printCases(result);
}
printTable(results);
const tried = results.filter(({ skipped }) => !skipped);
const sum = (role) => tried.reduce((total, result) => total + result[role].rounds, 0);
const ok = results.every((result) => result.ok) && tried.length > 0;
const figures = {
  classes: tried.length,
  held: tried.filter(({ product }) => product.held).length,
  controlsFailed: tried.filter(({ control }) => !control.held && control.detail.harmless.length === 0).length,
  skipped: results.filter(({ skipped }) => skipped).map(({ injector }) => injector.name),
  productRounds: sum('product'),
  productViolations: tried.reduce((total, { product }) => total + product.violations.length, 0),
  controlRounds: sum('control'),
  seconds: Math.round(results.reduce((total, { seconds }) => total + seconds, 0)),
};
console.log(JSON.stringify({ name: 'fault-injection', ok, figures }));
process.exitCode = ok ? 0 : 1;

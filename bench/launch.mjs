// npm run -s bench:launch: what a launch under receipts costs, as ratios against peers of the same run.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle, root } from '../scripts/bundle.mjs';

const cli = join(root, 'dist', 'cli.js');
const work = mkdtempSync(join(tmpdir(), 'receipts-bench-'));
const environment = { ...process.env, HOME: work, COMMAND_RECEIPTS_HOME: join(work, 'home'), XDG_CONFIG_HOME: '' };
const quantile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const round = (value) => Math.round(value * 1000) / 1000;

function receipts(args, options = {}) {
  return spawnSync(process.execPath, [cli, ...args], {
    cwd: work,
    env: environment,
    encoding: 'utf8',
    maxBuffer: 1 << 24,
    ...options,
  });
}

/** The payload of a real receipt, as the thing that is signed. */
function sampleReceipt() {
  const { stdout } = receipts(['run', '--json', '--', 'true']);
  const envelope = JSON.parse(readFileSync(JSON.parse(stdout).receiptPath, 'utf8'));
  const file = join(work, 'payload.json');
  writeFileSync(file, Buffer.from(envelope.payload, 'base64'));
  return file;
}

async function inner() {
  const outdir = join(work, 'bundle');
  await bundle({ inner: 'bench/inner.ts' }, outdir);
  cpSync(join(root, 'dist', 'native'), join(outdir, 'native'), { recursive: true });
  return JSON.parse(
    execFileSync(process.execPath, [join(outdir, 'inner.js'), '300', sampleReceipt()], {
      encoding: 'utf8',
      env: environment,
    }),
  );
}

function wholeProcess(rounds) {
  const times = { receipts: [], node: [] };
  const timed = (args) => {
    const begin = process.hrtime.bigint();
    spawnSync(process.execPath, args, { cwd: work, env: environment, stdio: 'ignore' });
    return Number(process.hrtime.bigint() - begin) / 1e6;
  };
  for (let index = 0; index < rounds; index++) {
    times.receipts.push(timed([cli, 'run', '-q', '--', 'true']));
    times.node.push(timed(['-e', '0']));
  }
  return times;
}

/** 1 GiB through a receipt; the peak memory is read from the receipt of an outer run over the inner one. */
function flood() {
  const gib = 1024 ** 3;
  const text = `yes 'The quick brown fox jumps over the lazy dog, 0123456789' | head -c ${gib}`;
  const begin = process.hrtime.bigint();
  spawnSync('sh', ['-c', `${text} | cat >/dev/null`], { stdio: 'ignore' });
  const drained = Number(process.hrtime.bigint() - begin) / 1e9;
  const started = process.hrtime.bigint();
  const run = receipts(
    ['run', '--json', '--', process.execPath, cli, 'run', '-q', '--store', join(work, 'inner'), '--shell', text],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const elapsed = Number(process.hrtime.bigint() - started) / 1e9;
  const outer = payload(JSON.parse(run.stdout).receiptPath);
  const store = join(work, 'inner');
  const task = readdirSync(store).find((name) => !name.startsWith('.'));
  const id = readdirSync(join(store, task, 'receipts'))[0];
  const { observedBytes, droppedBytes, retainedBytes } = payload(join(store, task, 'receipts', id, 'receipt.dsse.json'))
    .streams.stdout;
  if (observedBytes !== gib || retainedBytes + droppedBytes !== gib)
    throw new Error(`accounting: ${observedBytes} observed`);
  return {
    peakRssMib: outer.process.rusage.maxRssKib / 1024,
    mbPerSecond: gib / 1e6 / elapsed,
    drainMbPerSecond: gib / 1e6 / drained,
  };
}

/** The Actions toolkit reading the same bytes and doing nothing with them. */
function toolkitMbPerSecond() {
  const script = join(root, 'bench', 'toolkit-exec.mjs');
  return Number(execFileSync(process.execPath, [script, String(256 * 1024 ** 2)], { encoding: 'utf8' }));
}

function payload(path) {
  return JSON.parse(Buffer.from(JSON.parse(readFileSync(path, 'utf8')).payload, 'base64').toString('utf8'));
}

try {
  const { ours, peer, signing } = await inner();
  const whole = wholeProcess(25);
  const large = flood();
  const figures = {
    requestToExecP50Ms: round(quantile(ours, 0.5)),
    requestToExecP95Ms: round(quantile(ours, 0.95)),
    spawnP50Ms: round(quantile(peer, 0.5)),
    spawnP95Ms: round(quantile(peer, 0.95)),
    ratioToSpawn: round(quantile(ours, 0.5) / quantile(peer, 0.5)),
    signingP95Ms: round(quantile(signing, 0.95)),
    runTrueP50Ms: round(quantile(whole.receipts, 0.5)),
    nodeP50Ms: round(quantile(whole.node, 0.5)),
    runTrueAboveNodeMs: round(quantile(whole.receipts, 0.5) - quantile(whole.node, 0.5)),
    floodPeakRssMib: round(large.peakRssMib),
    floodMbPerSecond: round(large.mbPerSecond),
    floodToCatDrain: round(large.mbPerSecond / large.drainMbPerSecond),
    floodToActionsExec: round(large.mbPerSecond / toolkitMbPerSecond()),
  };
  const rows = [
    [
      'request to exec, small program (p50)',
      `${figures.requestToExecP50Ms} ms`,
      `child_process.spawn ${figures.spawnP50Ms} ms`,
      figures.ratioToSpawn <= 1,
    ],
    [
      'request to exec, small program (p95)',
      `${figures.requestToExecP95Ms} ms`,
      `child_process.spawn ${figures.spawnP95Ms} ms`,
      true,
    ],
    ['signing a receipt (p95)', `${figures.signingP95Ms} ms`, 'goal < 1 ms', figures.signingP95Ms < 1],
    [
      'receipts run -- true, whole process (p50)',
      `${figures.runTrueP50Ms} ms`,
      `node -e 0 ${figures.nodeP50Ms} ms`,
      figures.runTrueAboveNodeMs <= 120,
    ],
    [
      '1 GiB of output: peak memory',
      `${figures.floodPeakRssMib} MiB`,
      'goal < 200 MB',
      figures.floodPeakRssMib * 1.048576 < 200,
    ],
    [
      '1 GiB of output: speed',
      `${figures.floodMbPerSecond} MB/s`,
      `${figures.floodToCatDrain} of cat >/dev/null, ${figures.floodToActionsExec} of @actions/exec silent`,
      true,
    ],
  ];
  for (const [what, value, against, ok] of rows)
    console.log(`${ok ? 'ok  ' : 'MISS'} ${what.padEnd(44)} ${value.padStart(14)}   ${against}`);
  const ok = rows.every((row) => row[3]);
  console.log(JSON.stringify({ name: 'bench:launch', ok, figures }));
  process.exitCode = ok ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

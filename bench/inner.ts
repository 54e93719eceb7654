// Measures inside one process: the launcher against child_process.spawn, turn by turn, and what signing costs.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PAYLOAD_TYPES } from '../src/contract/index.ts';
import { createSigner } from '../src/evidence/index.ts';
import { selectLauncher } from '../src/launch/index.ts';

const [rounds = '300', receiptFile = ''] = process.argv.slice(2);
const launcher = selectLauncher();
const programsDirectory = mkdtempSync(join(tmpdir(), 'receipts-bench-'));
const environment = Object.entries(process.env) as Array<[string, string]>;

async function ours(): Promise<number> {
  const begin = process.hrtime.bigint();
  const bound = await launcher.bind({
    program: { mode: 'argv', argv: ['/bin/true'] },
    cwd: { workspace: '/tmp', requested: '.' },
    environment,
    bindingOrder: ['lease', 'cas-lease', 'memfd', 'none'],
    programsDirectory,
  });
  if (!bound.ok) throw new Error(bound.message);
  const running = bound.start({});
  const taken = process.hrtime.bigint() - begin;
  const sink = { data: () => true, end: () => {} };
  running.stdout.start(sink);
  running.stderr.start(sink);
  await running.exit;
  running.finish();
  running.stdout.drainAndClose();
  running.stderr.drainAndClose();
  bound.release();
  return Number(taken) / 1e6;
}

async function peer(): Promise<number> {
  const begin = process.hrtime.bigint();
  const child: ChildProcess = spawn('/bin/true', { cwd: '/tmp', stdio: ['inherit', 'pipe', 'pipe'] });
  const taken = process.hrtime.bigint() - begin;
  await new Promise((resolve) => child.on('close', resolve));
  return Number(taken) / 1e6;
}

function signing(count: number): number[] {
  const signer = createSigner(generateKeyPairSync('ed25519').privateKey, { custody: 'process-memory' });
  const receipt = JSON.parse(readFileSync(receiptFile, 'utf8'));
  return Array.from({ length: count }, () => {
    receipt.receiptId = randomBytes(16).toString('hex');
    const begin = process.hrtime.bigint();
    signer.seal(PAYLOAD_TYPES.receipt, receipt);
    return Number(process.hrtime.bigint() - begin) / 1e6;
  });
}

const figures = { ours: [] as number[], peer: [] as number[] };
for (let round = 0; round < Number(rounds) + 20; round++) {
  const [one, other] = [await ours(), await peer()];
  if (round >= 20) {
    figures.ours.push(one);
    figures.peer.push(other);
  }
}
process.stdout.write(`${JSON.stringify({ ...figures, signing: signing(1000).slice(100) })}\n`);
process.exit(0);

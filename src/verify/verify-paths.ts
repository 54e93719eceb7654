import { realpathSync } from 'node:fs';
import { ReceiptsError } from '../contract/index.ts';
import { type JudgedChain, verifyChain } from './chain.ts';
import { type Settled, settleCopies } from './copies.ts';
import { listEvidence } from './directory.ts';
import { closeFile, openRegular } from './evidence-file.ts';
import { Findings } from './findings.ts';
import { inOrder } from './in-order.ts';
import { classify, type Input, type RefusedEntry } from './inputs.ts';
import { Keyring } from './keyring.ts';
import type { JudgeContext, VerifyOptions } from './options.ts';
import { type JudgedReceipt, verifyReceipt } from './receipt.ts';
import { LARGEST_ENVELOPE } from './statement.ts';
import type { InputError, Verification } from './verdicts.ts';

/** Most tasks have one receipt: several at a time keep the threads that check signatures busy. */
const CHAINS_AT_ONCE = 4;

interface Judged {
  readonly chains: JudgedChain[];
  readonly receipts: JudgedReceipt[];
  readonly errors: InputError[];
}

/**
 * Verifies stores, task directories, receipt directories and receipt files without a network. Never throws for what the paths
 * hold: faults of the evidence are problems (exit 1), inputs that cannot be judged are errors (exit 2).
 */
export async function verifyPaths(paths: readonly string[], options: VerifyOptions): Promise<Verification> {
  const context = contextOf(options);
  const judged: Judged = { chains: [], receipts: [], errors: [] };
  if (paths.length === 0)
    judged.errors.push({
      path: '',
      code: 'USAGE',
      message: 'nothing to verify',
      next: 'Name a store, task or receipt.',
    });
  const seen = new Set<string>();
  for (const path of paths) await judge(path, seen, context, judged);
  return verificationOf(settleCopies(judged.chains, judged.receipts), judged.errors);
}

function verificationOf({ chains, receipts }: Settled, errors: readonly InputError[]): Verification {
  const ok = errors.length === 0 && [...chains, ...receipts].every(({ verified }) => verified);
  return {
    schema: 'command-receipts.verification.v1',
    ok,
    exitCode: errors.length > 0 ? 2 : ok ? 0 : 1,
    chains,
    receipts,
    errors,
  };
}

function contextOf(options: VerifyOptions): JudgeContext {
  return {
    keyring: new Keyring(options.trust, options.trustLabel ?? 'trusted key'),
    trustLabel: options.trustLabel,
    bodies: options.bodies ?? true,
    policyDigest: options.policyDigest,
    now: (options.now ?? new Date()).getTime(),
  };
}

async function judge(path: string, seen: Set<string>, context: JudgeContext, judged: Judged): Promise<void> {
  try {
    const input = classify(path);
    if (input.kind === 'receipt') await judgeReceipt(input, seen, context, judged);
    else await judgeChains(input, seen, context, judged);
  } catch (error) {
    if (!(error instanceof ReceiptsError)) throw error;
    judged.errors.push({
      path,
      code: error.code,
      message: error.message,
      ...(error.next !== undefined && { next: error.next }),
    });
  }
}

async function judgeChains(
  input: Extract<Input, { kind: 'chains' }>,
  seen: Set<string>,
  context: JudgeContext,
  judged: Judged,
): Promise<void> {
  const directories = input.directories.filter((directory) => isNew(directory, seen));
  const { inStore } = input;
  const verify = (directory: string) => verifyChain({ directory, inStore }, context);
  for (const chain of await inOrder(directories, CHAINS_AT_ONCE, verify)) judged.chains.push(chain);
  for (const entry of input.refused) judged.chains.push(refusedChain(entry));
}

async function judgeReceipt(
  input: Extract<Input, { kind: 'receipt' }>,
  seen: Set<string>,
  context: JudgeContext,
  judged: Judged,
): Promise<void> {
  const { path, directory, named } = input;
  if (!isNew(directory ?? path, seen)) return;
  refuseUnusable(path);
  const listing = directory === undefined ? undefined : listEvidence(directory, () => undefined);
  judged.receipts.push(
    await verifyReceipt({ path, listing, named, bodiesExpireAt: Number.POSITIVE_INFINITY, inChain: false }, context),
  );
}

/** A file that the user names and that cannot be a receipt is unusable input, not evidence that fails. */
function refuseUnusable(path: string): void {
  const next = 'Name a receipt.dsse.json that you can read.';
  try {
    const file = openRegular(path);
    closeFile(file);
    if (file.size <= LARGEST_ENVELOPE) return;
  } catch (error) {
    throw new ReceiptsError('INPUT_UNREADABLE', error instanceof Error ? error.message : 'cannot be read', {
      where: path,
      next,
    });
  }
  throw new ReceiptsError('INPUT_TOO_LARGE', `larger than ${LARGEST_ENVELOPE} bytes: no receipt`, {
    where: path,
    next,
  });
}

/** Two paths to one place are one. */
function isNew(path: string, seen: Set<string>): boolean {
  const place = realpathSync(path);
  if (seen.has(place)) return false;
  seen.add(place);
  return true;
}

/** docs/format.md §4.2: links and devices are refused. */
function refusedChain(entry: RefusedEntry): JudgedChain {
  const findings = new Findings();
  findings.add('UNEXPECTED_FILE', entry.path, entry.message);
  const verification = {
    path: entry.path,
    taskId: null,
    chainId: null,
    state: null,
    count: 0,
    verdicts: findings.verdicts(),
    verified: false,
    problems: findings.problems(),
    notes: [],
    receipts: [],
    unsealed: [],
  };
  return { verification, receipts: [] };
}

import type { JudgedChain } from './chain.ts';
import type { JudgedReceipt } from './receipt.ts';
import type { ChainVerification, Problem, ReceiptVerification } from './verdicts.ts';

export interface Settled {
  readonly chains: readonly ChainVerification[];
  readonly receipts: readonly ReceiptVerification[];
}

/** docs/format.md §8.5: evidence is deduplicated before anything is counted: identical bytes collapse silently, one id with two contents is DUPLICATE. */
export function settleCopies(allChains: readonly JudgedChain[], allReceipts: readonly JudgedReceipt[]): Settled {
  const chains = distinctChains(allChains);
  const receipts = distinctReceipts(allReceipts, chains);
  const conflicting = conflicts(chains, receipts);
  return {
    chains: chains.map(({ verification, receipts: own }) =>
      withProblems(
        verification,
        own.flatMap((receipt) => duplicateOf(receipt, conflicting)),
      ),
    ),
    receipts: receipts.map((receipt) => withProblems(receipt.verification, duplicateOf(receipt, conflicting))),
  };
}

/** Two verified copies of one task are one. A copy that fails stays: its faults are its own. */
function distinctChains(chains: readonly JudgedChain[]): JudgedChain[] {
  const seen = new Set<string>();
  return chains.filter(({ verification, receipts }) => {
    if (!verification.verified) return true;
    const name = [verification.chainId, ...receipts.map(identityOf)].join(' ');
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

/** A receipt given alone that is one of a verified chain, or was given before, says nothing new unless it fails by itself. */
function distinctReceipts(receipts: readonly JudgedReceipt[], chains: readonly JudgedChain[]): JudgedReceipt[] {
  const seen = new Set(
    chains.filter((chain) => chain.verification.verified).flatMap((chain) => chain.receipts.map(identityOf)),
  );
  return receipts.filter((receipt) => {
    const faultless = receipt.verification.problems.every((problem) => problem.code === 'CHAIN_NOT_ASSESSED');
    const identity = identityOf(receipt);
    if (!faultless) return true;
    if (seen.has(identity)) return false;
    seen.add(identity);
    return true;
  });
}

/** An envelope is canonical, so its payload and signature are all of its bytes. */
function identityOf({ facts, signature }: JudgedReceipt): string {
  return `${facts?.receiptDigest}/${signature}`;
}

/** Ids under which different bytes were found. */
function conflicts(chains: readonly JudgedChain[], receipts: readonly JudgedReceipt[]): Set<string> {
  const first = new Map<string, string>();
  const conflicting = new Set<string>();
  for (const receipt of [...chains.flatMap((chain) => chain.receipts), ...receipts]) {
    if (receipt.facts === null) continue;
    const { receiptId } = receipt.facts;
    const known = first.get(receiptId);
    if (known === undefined) first.set(receiptId, identityOf(receipt));
    else if (known !== identityOf(receipt)) conflicting.add(receiptId);
  }
  return conflicting;
}

function duplicateOf({ facts, verification }: JudgedReceipt, conflicting: ReadonlySet<string>): Problem[] {
  if (facts === null || !conflicting.has(facts.receiptId)) return [];
  const message = `receipt ${facts.receiptId} exists with other bytes`;
  return [{ verdict: 'integrity', code: 'DUPLICATE', where: verification.path, message }];
}

function withProblems<T extends ChainVerification | ReceiptVerification>(
  verification: T,
  found: readonly Problem[],
): T {
  const known = new Set(verification.problems.map(({ code, where }) => `${code} ${where}`));
  const added = found.filter(({ code, where }) => !known.has(`${code} ${where}`));
  if (added.length === 0) return verification;
  const verdicts = { ...verification.verdicts, integrity: 'fail' as const };
  return { ...verification, problems: [...verification.problems, ...added], verdicts, verified: false };
}

import { chainGenesis, type Head } from '../contract/index.ts';
import type { CommandFacts } from './facts.ts';
import type { Findings } from './findings.ts';

/** A receipt of a chain whose payload could be read. */
export interface Link {
  readonly path: string;
  readonly facts: CommandFacts;
}

interface ChainPlaces {
  readonly directory: string;
  readonly head: string;
}

/**
 * docs/format.md §5: the receipts of a task form one unbroken row from the genesis to what the head states. `unreadable` receipts
 * have problems of their own; what only they can explain is not reported twice.
 */
export function verifyLinks(
  all: readonly Link[],
  unreadable: number,
  head: Head | undefined,
  chainId: string | undefined,
  places: ChainPlaces,
  findings: Findings,
): void {
  const links = ownLinks(all, chainId, findings);
  reportDuplicates(links, findings);
  reportForks(links, findings);
  const row = [...new Map(links.map((link) => [link.facts.chain.sequence, link])).values()];
  verifyRow(row, unreadable, chainId, findings);
  if (head) verifyEnd(row, unreadable, head, places, findings);
}

/** Links of this chain in their order; a receipt of another chain was put here. */
function ownLinks(all: readonly Link[], chainId: string | undefined, findings: Findings): Link[] {
  const own: Link[] = [];
  for (const link of all) {
    const { id } = link.facts.chain;
    if (chainId === undefined || id === chainId) own.push(link);
    else findings.add('CHAIN_BROKEN', `${link.path}#/chain/id`, `belongs to chain ${id}, not to ${chainId}`);
  }
  return own.sort((left, right) => left.facts.chain.sequence - right.facts.chain.sequence);
}

/** The same id with other bytes. (The same bytes under another name are an unexpected directory.) */
function reportDuplicates(links: readonly Link[], findings: Findings): void {
  const first = new Map<string, Link>();
  for (const link of links) {
    const { receiptId, receiptDigest } = link.facts;
    const other = first.get(receiptId);
    if (other === undefined) first.set(receiptId, link);
    else if (other.facts.receiptDigest !== receiptDigest)
      for (const { path } of [other, link])
        findings.add('DUPLICATE', path, `receipt ${receiptId} exists with other bytes`);
  }
}

/** Two receipts in one place. */
function reportForks(links: readonly Link[], findings: Findings): void {
  for (const [index, link] of links.entries()) {
    const before = links[index - 1];
    if (before === undefined || before.facts.chain.sequence !== link.facts.chain.sequence) continue;
    if (before.facts.receiptDigest === link.facts.receiptDigest) continue;
    for (const { path } of [before, link])
      findings.add('CHAIN_FORK', `${path}#/chain/sequence`, `two receipts stand at ${link.facts.chain.sequence}`);
  }
}

/** §5.1: sequence from 1 without a gap, each linked to the payload before it. */
function verifyRow(row: readonly Link[], unreadable: number, chainId: string | undefined, findings: Findings): void {
  let due = 1;
  let previous = chainId === undefined ? undefined : chainGenesis(chainId);
  let missing = 0;
  for (const { path, facts } of row) {
    const { sequence, previousReceiptDigest } = facts.chain;
    if (sequence !== due) {
      missing += sequence - due;
      previous = undefined;
      if (missing > unreadable)
        findings.add(
          'CHAIN_GAP',
          `${path}#/chain/sequence`,
          `${sequence} where ${due} is due: what stood between is missing`,
        );
    }
    if (previous !== undefined && previousReceiptDigest !== previous)
      findings.add(
        'CHAIN_BROKEN',
        `${path}#/chain/previousReceiptDigest`,
        'is not the digest of the receipt before it',
      );
    due = sequence + 1;
    previous = facts.receiptDigest;
  }
}

/** §5.2: the head counts the receipts and states the last. */
function verifyEnd(
  row: readonly Link[],
  unreadable: number,
  head: Head,
  places: ChainPlaces,
  findings: Findings,
): void {
  const last = row.at(-1);
  const end = last?.facts.chain.sequence ?? 0;
  if (head.count > end + unreadable)
    findings.add(
      'CHAIN_GAP',
      `${places.head}#/count`,
      `the head counts ${head.count} receipts, the last that is there is number ${end}`,
    );
  if (head.count < end)
    findings.add(
      'CHAIN_BROKEN',
      `${places.head}#/count`,
      `the head counts ${head.count} receipts, but number ${end} is there`,
    );
  if (head.count !== end) return;
  const due = last?.facts.receiptDigest ?? chainGenesis(head.chainId);
  if (head.lastReceiptDigest !== due)
    findings.add('CHAIN_BROKEN', `${places.head}#/lastReceiptDigest`, 'is not the digest of the last receipt');
}

import type { Findings } from './findings.ts';
import type { Link } from './links.ts';

/**
 * docs/format.md §8.6: a chain has one executor key. A command that reaches a key of its own can put receipts into a task that is open;
 * a second key among a task's executors is how that shows. A recoverer signs for an executor that is gone, with its own key.
 */
export function verifyOneSigner(links: readonly Link[], findings: Findings): void {
  const executors = links
    .filter(({ facts }) => facts.evidence.recoveredBy === undefined)
    .sort((left, right) => left.facts.chain.sequence - right.facts.chain.sequence);
  const first = executors[0]?.facts.executor.keyId;
  for (const { path, facts } of executors)
    if (facts.executor.keyId !== first)
      findings.add(
        'MIXED_SIGNERS',
        `${path}#/executor/keyId`,
        `executor ${facts.executor.keyId} in a task that ${first} began: one task has one executor key`,
      );
}

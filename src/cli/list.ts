import { describeTermination, EXIT, shellWords } from '../contract/index.ts';
import type { ReceiptVerification } from '../verify/index.ts';
import { print, printJson } from './output.ts';
import { redactedDeep } from './redaction.ts';
import { existingStore, receiptsOf, verifiedStore } from './store.ts';

interface ListOptions {
  readonly store?: string;
  readonly task?: string;
  readonly trust?: string;
  readonly json?: true;
}

/** `receipts list`: what is there, each with whether its integrity, signer, completeness and policy hold. */
export async function list(options: ListOptions): Promise<number> {
  const store = existingStore(options.store);
  const verification = await verifiedStore(store, {
    bodies: false,
    ...(options.trust !== undefined && { trust: options.trust }),
  });
  const receipts = receiptsOf(verification)
    .filter(({ facts }) => options.task === undefined || facts?.task.id === options.task)
    .sort((left, right) => (left.receiptId ?? '').localeCompare(right.receiptId ?? ''));
  if (options.json) printJson({ schema: 'command-receipts.list.v1', store, receipts: receipts.map(row) });
  else print(receipts.length === 0 ? ['no receipts'] : redactedDeep(receipts).flatMap(lines));
  return EXIT.ok;
}

function row({ receiptId, path, facts, verified, problems }: ReceiptVerification) {
  return {
    receiptId,
    path,
    verified,
    codes: [...new Set(problems.map(({ code }) => code))],
    task: facts?.task ?? null,
    startedAt: facts?.time.startedAt ?? null,
    argv: facts === null ? null : asked(facts),
    termination: facts?.termination ?? null,
  };
}

function lines({ receiptId, path, facts, verified, problems }: ReceiptVerification): string[] {
  const status = verified ? 'verified' : `not verified (${[...new Set(problems.map(({ code }) => code))].join(', ')})`;
  if (facts === null) return [`${receiptId ?? path}  ${status}`];
  const command = shellWords(asked(facts)).replaceAll(/\s+/g, ' ');
  const shown = command.length > 60 ? `${command.slice(0, 57)}...` : command;
  const ended = describeTermination(facts.termination);
  return [`${receiptId}  ${facts.time.startedAt.slice(0, 19)}Z  ${ended}`, `    ${shown}`, `    ${status}`];
}

function asked({ command, argv }: NonNullable<ReceiptVerification['facts']>): readonly string[] {
  return command.mode === 'argv' ? command.requested : argv;
}

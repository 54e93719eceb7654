import { describeTermination, EXIT } from '../contract/index.ts';
import type { ReceiptVerification } from '../verify/index.ts';
import { printJson } from './output.ts';
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
  else if (receipts.length === 0) process.stdout.write('no receipts\n');
  else process.stdout.write(`${receipts.map(line).join('\n')}\n`);
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

function line(receipt: ReceiptVerification): string {
  const { receiptId, facts, verified, problems } = receipt;
  const status = verified ? 'verified' : `not verified (${[...new Set(problems.map(({ code }) => code))].join(', ')})`;
  if (facts === null) return `${receiptId ?? receipt.path}  ${status}`;
  const command = asked(facts).join(' ').replaceAll(/\s+/g, ' ');
  const shown = command.length > 60 ? `${command.slice(0, 57)}...` : command;
  return `${receiptId}  ${facts.time.startedAt.slice(0, 19)}Z  ${describeTermination(facts.termination)}\n    ${shown}\n    ${status}`;
}

function asked({ command, argv }: NonNullable<ReceiptVerification['facts']>): readonly string[] {
  return command.mode === 'argv' ? command.requested : argv;
}

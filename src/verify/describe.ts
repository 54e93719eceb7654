import { describeTermination, shellWords, visible } from '../contract/index.ts';
import { wrapped } from './terminal.ts';
import {
  type ChainVerification,
  type Problem,
  type ReceiptVerification,
  VERDICTS,
  type Verdicts,
  type Verification,
} from './verdicts.ts';

const WIDTH = 80;
const LONGEST_COMMAND = 400;

/** The verification for a terminal of 80 columns: what ran, how it ended, the four verdicts, and what is against them. */
export function describeVerification(verification: Verification): string[] {
  const lines: string[] = [];
  for (const chain of verification.chains) lines.push(...describeChain(chain), '');
  for (const receipt of verification.receipts) lines.push(...describeReceipt(receipt, ''), '');
  for (const error of verification.errors) {
    lines.push(...wrapped(visible(`${error.code} ${error.path}: ${error.message}`), WIDTH, '', '  '));
    if (error.next !== undefined) lines.push(...wrapped(visible(error.next), WIDTH, '  ', '  '));
  }
  lines.push(verification.ok ? 'verified' : 'not verified');
  return lines;
}

function describeChain(chain: ChainVerification): string[] {
  const name = chain.taskId === null ? visible(chain.path) : `task ${visible(chain.taskId)}`;
  const count = `${chain.count} ${chain.count === 1 ? 'receipt' : 'receipts'}`;
  return [
    ...wrapped(`${name}: ${chain.state ?? 'without a head'}, ${count}`, WIDTH, '', '  '),
    `  ${describeVerdicts(chain.verdicts)}`,
    ...describeFindings(chain.problems, chain.notes, '  '),
    ...chain.receipts.flatMap((receipt) => describeReceipt(receipt, '  ')),
  ];
}

function describeReceipt(receipt: ReceiptVerification, indent: string): string[] {
  const inner = `${indent}  `;
  return [
    ...wrapped(commandOf(receipt), WIDTH, `${indent}$ `, inner),
    `${inner}${receipt.facts ? visible(describeTermination(receipt.facts.termination)) : 'what it says is not known to be true'}`,
    `${inner}${describeVerdicts(receipt.verdicts)}`,
    ...describeFindings(receipt.problems, receipt.notes, inner),
  ];
}

function commandOf({ facts, path }: ReceiptVerification): string {
  if (facts === null) return visible(path);
  const asked = facts.command.mode === 'argv' ? facts.command.requested : shellVector(facts.command.shell);
  const command = visible(shellWords(asked));
  return command.length > LONGEST_COMMAND ? `${command.slice(0, LONGEST_COMMAND)}…` : command;
}

/** The text itself is not stored: its place is shown as the policy and the caller know it. */
function shellVector({
  executable,
  args,
  scriptBytes,
}: {
  executable: string;
  args: string[];
  scriptBytes: number;
}): string[] {
  return [executable, ...args.map((argument) => argument.replace('{0}', `{shell text, ${scriptBytes} bytes}`))];
}

function describeVerdicts(verdicts: Verdicts): string {
  return VERDICTS.map((verdict) => `${verdict} ${verdicts[verdict]}`).join(', ');
}

function describeFindings(problems: readonly Problem[], notes: readonly string[], indent: string): string[] {
  const all = [
    ...problems.map(({ code, where, message }) => `${code} ${where}: ${message}`),
    ...notes.map((note) => `note: ${note}`),
  ];
  return all.flatMap((text) => wrapped(visible(text), WIDTH, indent, `${indent}  `));
}

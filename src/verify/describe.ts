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

const LONGEST_COMMAND = 400;

/**
 * The verification for people: what ran, how it ended, the four verdicts, and what is against them. Wrapped only where a width
 * in columns is given: who reads it elsewhere looks for whole paths.
 */
export function describeVerification(verification: Verification, width = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  for (const chain of verification.chains) lines.push(...describeChain(chain, width), '');
  for (const receipt of verification.receipts) lines.push(...describeReceipt(receipt, '', width), '');
  for (const error of verification.errors) {
    lines.push(...wrapped(visible(`${error.code} ${error.path}: ${error.message}`), width, '', '  '));
    if (error.next !== undefined) lines.push(...wrapped(visible(error.next), width, '  ', '  '));
  }
  lines.push(verification.ok ? 'verified' : 'not verified');
  return lines;
}

function describeChain(chain: ChainVerification, width: number): string[] {
  const name = chain.taskId === null ? visible(chain.path) : `task ${visible(chain.taskId)}`;
  const count = `${chain.count} ${chain.count === 1 ? 'receipt' : 'receipts'}`;
  return [
    ...wrapped(`${name}: ${chain.state ?? 'without a head'}, ${count}`, width, '', '  '),
    `  ${describeVerdicts(chain.verdicts)}`,
    ...describeFindings(chain, '  ', width),
    ...chain.receipts.flatMap((receipt) => describeReceipt(receipt, '  ', width)),
  ];
}

function describeReceipt(receipt: ReceiptVerification, indent: string, width: number): string[] {
  const inner = `${indent}  `;
  return [
    ...wrapped(commandOf(receipt), width, `${indent}$ `, inner),
    `${inner}${receipt.facts ? visible(describeTermination(receipt.facts.termination)) : 'what it says is not known to be true'}`,
    `${inner}${describeVerdicts(receipt.verdicts)}`,
    ...describeFindings(receipt, inner, width),
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

function describeFindings(
  { problems, notes }: { readonly problems: readonly Problem[]; readonly notes: readonly string[] },
  indent: string,
  width: number,
): string[] {
  const all = [
    ...problems.map(({ code, where, message }) => `${code} ${where}: ${message}`),
    ...notes.map((note) => `note: ${note}`),
  ];
  return all.flatMap((text) => wrapped(visible(text), width, indent, `${indent}  `));
}

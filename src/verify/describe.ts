import type { Termination } from '../contract/index.ts';
import { quoted, visible, wrapped } from './terminal.ts';
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
    `${inner}${receipt.facts ? describeTermination(receipt.facts.termination) : 'what it says is not known to be true'}`,
    `${inner}${describeVerdicts(receipt.verdicts)}`,
    ...describeFindings(receipt.problems, receipt.notes, inner),
  ];
}

function commandOf({ facts, path }: ReceiptVerification): string {
  if (facts === null) return visible(path);
  const command = facts.argv.map(quoted).join(' ');
  return command.length > LONGEST_COMMAND ? `${command.slice(0, LONGEST_COMMAND)}…` : command;
}

/** `exit 0`, `signal SIGKILL`, `timed out, …`: the three ways in which a command ends, and those in which it never ran. */
function describeTermination(termination: Termination): string {
  switch (termination.kind) {
    case 'exited':
      return `exit ${termination.exitCode}`;
    case 'signaled':
      return `signal ${termination.signal}${termination.coreDumped ? ', core dumped' : ''}`;
    case 'timed-out':
      return `timed out, ${termination.signal ? `signal ${termination.signal}` : `exit ${termination.exitCode ?? 'unknown'}`}`;
    case 'refused':
      return `refused: ${visible(termination.code)}`;
    case 'start-failed':
      return `did not start: ${visible(termination.code)}`;
    case 'unknown':
      return `end unknown, first missing stage ${termination.missingStage}`;
  }
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

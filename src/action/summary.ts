import { type CommandReceipt, describeTermination, type StartedReceipt, shellWords } from '../contract/index.ts';
import type { AttemptRequest, AttemptResult } from '../executor/index.ts';
import { codeCell, table, textCell } from './markdown.ts';
import type { StepVerdict } from './verdict.ts';

const HEAD = ['Command', 'Result', 'Duration', 'Output', 'Redactions', 'Flags', 'Receipt', 'Evidence'];

/** The step's row for the job summary. Every text passes the attempt's redactor. */
export function commandRow(program: AttemptRequest['program'], result: AttemptResult, verdict: StepVerdict): string {
  const receipt = result.sealed?.receipt;
  const flags = receipt?.evidence.flags ?? [];
  return table(HEAD, [
    [
      codeCell(result.redact(commandText(program, receipt))),
      textCell(describeTermination(result.termination)),
      textCell(duration(receipt)),
      textCell(outputBytes(receipt)),
      textCell(redactions(receipt)),
      textCell(flags.length === 0 ? 'none' : flags.join(', ')),
      codeCell(result.receiptId),
      textCell(verdict),
    ],
  ]);
}

/** The vector as the receipt has it, redacted element by element; of a shell text the lines themselves. */
function commandText(program: AttemptRequest['program'], receipt: CommandReceipt | undefined): string {
  if (program.mode === 'shell') return program.text.trim().replaceAll(/\s*\n\s*/g, ' ⏎ ');
  if (receipt?.command.mode !== 'argv') return '(no receipt)';
  return shellWords(receipt.command.requested);
}

function duration(receipt: CommandReceipt | undefined): string {
  const end = receipt?.time.monotonicEndNs;
  if (!receipt || end === undefined || end === null) return 'unknown';
  const milliseconds = Number((BigInt(end) - BigInt(receipt.time.monotonicStartNs)) / 1_000_000n);
  return milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

function outputBytes(receipt: CommandReceipt | undefined): string {
  if (receipt?.started !== 'yes') return 'none';
  return streamsOf(receipt)
    .map(([name, stream]) => `${name} ${stream === null ? 'unknown' : `${stream.observedBytes} B`}`)
    .join(', ');
}

function redactions(receipt: CommandReceipt | undefined): string {
  if (receipt?.started !== 'yes') return 'none';
  const counts = new Map<string, number>();
  for (const [, stream] of streamsOf(receipt))
    for (const { type, count } of stream?.redaction.hits ?? []) counts.set(type, (counts.get(type) ?? 0) + count);
  return counts.size === 0 ? 'none' : [...counts].map(([type, count]) => `${type} × ${count}`).join(', ');
}

function streamsOf({ streams }: StartedReceipt) {
  return [['stdout', streams.stdout] as const, ['stderr', streams.stderr] as const];
}

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { decodeEnvelope, describeTermination, EXIT, ReceiptsError } from '../contract/index.ts';
import type { CommandFacts, ReceiptVerification } from '../verify/index.ts';
import { printJson } from './output.ts';
import { existingStore, receiptsOf, verifiedStore } from './store.ts';

interface ShowOptions {
  readonly store?: string;
  readonly trust?: string;
  readonly output?: 'stdout' | 'stderr';
  readonly json?: true;
}

/** `receipts show`: 0 when the receipt verifies, 1 when it does not. */
export async function show(id: string, options: ShowOptions): Promise<number> {
  const store = existingStore(options.store);
  const verification = await verifiedStore(store, {
    bodies: true,
    ...(options.trust !== undefined && { trust: options.trust }),
  });
  const receipt = pick(receiptsOf(verification), id, store);
  if (options.output !== undefined) return printBody(receipt, options.output);
  if (options.json) printJson({ ...receipt, payload: payloadOf(receipt.path) });
  else process.stdout.write(`${describe(receipt).join('\n')}\n`);
  return receipt.verified ? EXIT.ok : EXIT.notVerified;
}

function pick(receipts: readonly ReceiptVerification[], id: string, store: string): ReceiptVerification {
  const found = receipts.filter((receipt) => receipt.receiptId?.startsWith(id.toLowerCase()));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw new ReceiptsError(
    'RECEIPT_NOT_FOUND',
    found.length === 0 ? `no receipt begins with ${id}` : `${found.length} receipts begin with ${id}`,
    {
      where: store,
      next: found.length === 0 ? 'See what there is with: receipts list' : 'Give more of the id.',
    },
  );
}

function payloadOf(path: string): unknown {
  return JSON.parse(decodeEnvelope(readFileSync(path), path).payload.toString('utf8'));
}

function printBody({ path }: ReceiptVerification, stream: 'stdout' | 'stderr'): number {
  const file = (name: string) => join(dirname(path), `${stream}${name}.txt`);
  if (existsSync(file(''))) process.stdout.write(readFileSync(file('')));
  for (const part of ['.head', '.tail']) {
    if (part === '.tail' && (existsSync(file('.head')) || existsSync(file('.tail'))))
      process.stderr.write('\nreceipts: … output was cut here; see `receipts show` for the count …\n');
    if (existsSync(file(part))) process.stdout.write(readFileSync(file(part)));
  }
  return EXIT.ok;
}

function describe(receipt: ReceiptVerification): string[] {
  const { facts, verdicts, problems, notes } = receipt;
  const lines = [`receipt     ${receipt.receiptId}`, ...(facts === null ? [] : describeFacts(facts))];
  lines.push(
    `verdicts    ${Object.entries(verdicts)
      .map(([name, status]) => `${name} ${status}`)
      .join(', ')}`,
  );
  for (const problem of problems) lines.push(`            ${problem.code} ${problem.where}: ${problem.message}`);
  for (const note of notes) lines.push(`note        ${note}`);
  lines.push(receipt.verified ? 'verified' : 'not verified');
  return lines;
}

function describeFacts(facts: CommandFacts): string[] {
  const { command, argv, cwd, executable, interpreters, policy, termination, time, streams, evidence, executor } =
    facts;
  const asked = command.mode === 'argv' ? command.requested : [command.shell.executable, ...command.shell.args];
  const lines = [
    `command     ${words(asked)}${command.mode === 'shell' ? ` (shell text of ${command.shell.scriptBytes} bytes)` : ''}`,
    `given exec  ${words(argv)}`,
    `directory   ${'resolved' in cwd ? (cwd.resolved ?? 'unknown') : cwd.requested}`,
    `ended       ${describeTermination(termination)}`,
    `time        ${time.startedAt} to ${time.endedAt ?? 'unknown'}`,
    `policy      ${policy === null ? 'not decided' : `${policy.outcome} by rule ${policy.rule} (${policy.source})`}`,
    `signer      ${executor.keyId} (${executor.custody})`,
  ];
  const programs = ['binding' in executable ? [executable] : [], interpreters].flat();
  for (const program of programs)
    lines.push(
      `program     ${program.path ?? program.requested} (${program.binding.method}) sha256 ${program.sha256 ?? 'unknown'}`,
    );
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = streams?.[name];
    if (!stream) continue;
    const hits = stream.redaction.hits.map(({ type, count }) => `${type} × ${count}`).join(', ');
    const cut =
      stream.truncation.reason === 'none'
        ? 'kept whole'
        : `${stream.droppedBytes} dropped (${stream.truncation.reason})`;
    lines.push(
      `${name}      ${stream.observedBytes} bytes, ${cut}${hits ? `; redacted: ${hits}` : ''}${stream.closed === 'eof' ? '' : `; ${stream.closed}`}`,
    );
  }
  if (evidence.flags.length > 0) lines.push(`flags       ${evidence.flags.join(', ')}`);
  for (const { field, reason, detail } of evidence.gaps)
    lines.push(`gap         ${reason} ${field}${detail === undefined ? '' : ` (${detail})`}`);
  return lines;
}

/** As a shell would take it, so that it can be read and copied. */
function words(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

import { describeTermination, EXIT, ReceiptsError, shellWords } from '../contract/index.ts';
import { type CommandFacts, type ReceiptVerification, readPayload } from '../verify/index.ts';
import { print, printJson } from './output.ts';
import { redactedDeep } from './redaction.ts';
import { showOutput } from './show-output.ts';
import { existingStore, receiptsOf, verifiedStore } from './store.ts';

interface ShowOptions {
  readonly store?: string;
  readonly trust?: string;
  readonly output?: 'stdout' | 'stderr';
  readonly unverified?: true;
  readonly json?: true;
}

/** `receipts show`: 0 when the receipt verifies, 1 when it does not. */
export async function show(id: string, options: ShowOptions): Promise<number> {
  if (options.unverified && options.output === undefined)
    throw new ReceiptsError('USAGE', '--unverified says how --output is printed', { next: 'Add --output stdout.' });
  const store = existingStore(options.store);
  const verification = await verifiedStore(store, {
    bodies: true,
    ...(options.trust !== undefined && { trust: options.trust }),
  });
  const receipt = pick(receiptsOf(verification), id, store);
  if (options.output !== undefined) return showOutput(receipt, options.output, options.unverified ?? false);
  if (options.json) printJson({ ...receipt, payload: readPayload(receipt.path) });
  else print(describe(redactedDeep(receipt)));
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
    `command     ${shellWords(asked)}${command.mode === 'shell' ? ` (shell text of ${command.shell.scriptBytes} bytes)` : ''}`,
    `given exec  ${shellWords(argv)}`,
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

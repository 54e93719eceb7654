import { parseDocument } from '../contract/document.ts';
import { canonicalBytes, digestOf, ReceiptsError } from '../contract/index.ts';
import type { Policy } from './policy.ts';
import { durationMs, sizeBytes } from './quantities.ts';
import { PolicyDocument } from './schema.ts';

/** Reads a policy document strictly. Throws POLICY_INVALID with file, line and column. */
export function parsePolicy(text: string, file: string): Policy {
  const document = parseDocument(PolicyDocument, text, file, 'POLICY_INVALID');
  refuseAmbiguous(document, file);
  refuseImpossible(document, file);
  return { document, digest: digestOf(canonicalBytes(document)), source: 'file', name: file };
}

/** Quantities that no timer or memory takes are found here, not when a command is to be run. */
function refuseImpossible(document: PolicyDocument, file: string): void {
  const places = [
    ['', document] as const,
    ...(document.commands ?? []).map((rule, index) => [`/commands/${index}`, rule] as const),
  ];
  for (const [pointer, { timeout, output }] of places) {
    if (timeout !== undefined) at(`${file}#${pointer}/timeout`, () => durationMs(timeout));
    for (const part of ['head', 'tail'] as const) {
      const size = output?.[part];
      if (size !== undefined) at(`${file}#${pointer}/output/${part}`, () => sizeBytes(size));
    }
  }
}

function at(where: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ReceiptsError)) throw error;
    throw new ReceiptsError('POLICY_INVALID', error.message, {
      where,
      ...(error.next !== undefined && { next: error.next }),
    });
  }
}

function refuseAmbiguous(document: PolicyDocument, file: string): void {
  const seen = new Set<string>();
  for (const [index, { id, argv, script }] of (document.commands ?? []).entries()) {
    const where = `${file}#/commands/${index}`;
    if (seen.has(id))
      throw new ReceiptsError('POLICY_INVALID', `two commands have the id ${id}`, {
        where,
        next: 'Give each its own.',
      });
    seen.add(id);
    if (argv !== undefined && script !== undefined)
      throw new ReceiptsError('POLICY_INVALID', `command ${id} has both argv and script`, {
        where,
        next: 'A command is matched either by its argument vector or by its shell text: split it into two.',
      });
  }
}

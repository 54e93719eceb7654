import { relative } from 'node:path';
import { describeTermination, ReceiptsError, shellWords } from '../contract/index.ts';
import type { AttemptResult, ExecutorSettings } from '../executor/index.ts';
import type { ProtectionReport } from '../launch/index.ts';
import { printError, printJson, say } from './output.ts';

interface Report {
  readonly result: AttemptResult;
  readonly settings: ExecutorSettings;
  /** Where the user stood when the command began; it may be gone since. */
  readonly directory: string;
  readonly protection: ProtectionReport | undefined;
  /** The directory of keys, when this run made it. */
  readonly newHome: string | undefined;
  readonly quiet: boolean;
  readonly json: boolean;
}

/** What is said of a command that has ended: failures always, the rest unless it was asked not to. */
export function reportRun(report: Report): void {
  const { result, quiet, json } = report;
  reportFailures(result, json);
  if (json) printJson(jsonOf(report));
  else if (!quiet) reportReceipt(report);
}

function reportFailures({ storeError, sealed, termination, next }: AttemptResult, json: boolean): void {
  if (storeError) {
    say(
      sealed
        ? 'the output could not be stored: the receipt says EVIDENCE_BLOCKED'
        : 'the receipt could not be stored; `receipts recover` may still issue one',
    );
    printError(storeError);
  }
  if ((termination.kind !== 'refused' && termination.kind !== 'start-failed') || json) return;
  const { code, message } = termination;
  printError(new ReceiptsError(code as ReceiptsError['code'], message, next === undefined ? {} : { next }));
}

function reportReceipt({ result, settings, directory, newHome }: Report): void {
  const { receiptId, taskDirectory, termination, sealed } = result;
  if (newHome)
    say(`made a signing key in ${newHome}; commands that you run can read it (custody: reachable-by-command)`);
  if (!sealed) return;
  const place = relative(directory, taskDirectory) || '.';
  say(`${describeTermination(termination)} · receipt ${receiptId} · policy ${settings.policy.name}`);
  say(`receipts verify ${shellWords([place.startsWith('..') ? taskDirectory : place])}`);
}

function jsonOf({ result, settings, protection }: Report) {
  const { receiptId, taskId, taskDirectory, termination, exitCode, sealed, storeError } = result;
  return {
    schema: 'command-receipts.run.v1',
    receiptId,
    taskId,
    taskDirectory,
    receiptPath: sealed?.path ?? null,
    receiptDigest: sealed?.digest ?? null,
    termination,
    exitCode,
    flags: sealed?.receipt.evidence.flags ?? null,
    policy: { name: settings.policy.name, digest: settings.policy.digest },
    signer: { keyId: settings.signer.keyId, custody: settings.signer.custody },
    protection: protection ?? null,
    error: storeError ? { code: storeError.code, message: storeError.message, where: storeError.where ?? null } : null,
  };
}

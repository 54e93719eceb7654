import { existsSync } from 'node:fs';
import { ReceiptsError } from '../contract/index.ts';
import { storeLocation } from '../evidence/index.ts';
import { describeVerification, verifyPaths } from '../verify/index.ts';
import { currentDirectory } from './current-directory.ts';
import { print, printJson, terminalWidth } from './output.ts';
import { redactedDeep } from './redaction.ts';
import { trustFrom } from './trust.ts';

interface VerifyOptions {
  readonly trust?: string;
  readonly policy?: string;
  readonly bodies: boolean;
  readonly json?: true;
}

/** `receipts verify`: 0 all verified, 1 something is not, 2 unusable input. */
export async function verify(paths: string[], options: VerifyOptions): Promise<number> {
  const verification = await verifyPaths(paths.length > 0 ? paths : [storeHere()], {
    ...trustFrom(options.trust),
    bodies: options.bodies,
    ...(options.policy !== undefined && { policyDigest: await policyDigest(options.policy) }),
  });
  if (options.json) printJson(verification);
  else print(describeVerification(redactedDeep(verification), terminalWidth()));
  return verification.exitCode;
}

function storeHere(): string {
  const store = storeLocation({ store: undefined, directory: currentDirectory(), environment: process.env });
  if (existsSync(store)) return store;
  throw new ReceiptsError('USAGE', 'nothing to verify was named, and there is no store here', {
    where: store,
    next: 'Name a store, a task directory or a receipt: receipts verify PATH',
  });
}

async function policyDigest(file: string): Promise<string> {
  const { findPolicy } = await import('../executor/index.ts');
  return (await findPolicy(file, currentDirectory())).digest;
}

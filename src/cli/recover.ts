import { EXIT } from '../contract/index.ts';
import { homeFrom, type Recovered, recoverTask, taskDirectories } from '../evidence/index.ts';
import { platformLocks } from '../executor/index.ts';
import type { ProtectionReport } from '../launch/index.ts';
import { signingKeys } from './keys.ts';
import { print, printError, printJson } from './output.ts';
import { existingStore } from './store.ts';

/** `receipts recover`: 0 when every task could be read, 2 when one could not. */
export async function recover(
  options: { store?: string; quiet?: true; json?: true },
  protection: ProtectionReport | undefined,
): Promise<number> {
  const store = existingStore(options.store);
  const { signer } = await signingKeys(homeFrom(process.env), protection, options.quiet);
  const locks = platformLocks();
  const recovered: Recovered[] = [];
  let unreadable = 0;
  for (const name of taskDirectories(store)) {
    try {
      recovered.push(...recoverTask(name, { store, signer, locks }));
    } catch (error) {
      unreadable++;
      printError(error);
    }
  }
  if (options.json) printJson({ schema: 'command-receipts.recovery.v1', store, recovered, unreadable });
  else print(recovered.length === 0 ? ['nothing to recover'] : recovered.map(describe));
  return unreadable > 0 ? EXIT.unusable : EXIT.ok;
}

function describe({ receiptId, outcome, missingStage }: Recovered): string {
  switch (outcome) {
    case 'recovered':
      return `${receiptId}  UNKNOWN_TERMINATION, first missing stage ${missingStage}`;
    case 'seal-completed':
      return `${receiptId}  its seal was completed`;
    case 'still-running':
      return `${receiptId}  still running, left alone`;
  }
}

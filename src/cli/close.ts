import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, ReceiptsError, taskDirectoryName } from '../contract/index.ts';
import { homeFrom, TaskStore } from '../evidence/index.ts';
import { platformLocks } from '../executor/index.ts';
import type { ProtectionReport } from '../launch/index.ts';
import { signingKeys } from './keys.ts';
import { print, printJson } from './output.ts';
import { existingStore } from './store.ts';

/** `receipts close`: ends a task's chain for good; closing twice is no fault. */
export async function close(
  taskId: string,
  options: { store?: string; quiet?: true; json?: true },
  protection: ProtectionReport | undefined,
): Promise<number> {
  const store = existingStore(options.store);
  const directory = join(store, taskDirectoryName(taskId));
  if (!existsSync(directory))
    throw new ReceiptsError('TASK_NOT_FOUND', `there is no task ${JSON.stringify(taskId)} in this store`, {
      where: store,
      next: 'See what there is with: receipts list',
    });
  const { signer } = await signingKeys(homeFrom(process.env), protection, options.quiet);
  const task = new TaskStore({ store, taskId, signer, locks: platformLocks(), closedIsFine: true });
  task.close();
  const { sealedCount } = task.journal.state;
  task.dispose();
  if (options.json) printJson({ schema: 'command-receipts.close.v1', taskId, directory, receipts: sealedCount });
  else print([`closed ${taskId}: ${sealedCount} receipt(s)`]);
  return EXIT.ok;
}

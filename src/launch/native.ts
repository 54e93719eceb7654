import { accessSync, readlinkSync } from 'node:fs';
import { errnoOf } from '../contract/index.ts';

/**
 * The Linux part, loaded once with this module because its callers are synchronous, or the reason why it is not there;
 * then everything still runs, and says that nothing was bound.
 */
export const native: typeof import('./linux/index.ts') | string = await load();

async function load(): Promise<typeof native> {
  if (process.platform !== 'linux') return `objects cannot be bound on ${process.platform}`;
  try {
    readlinkSync('/proc/self/fd/0');
    accessSync('/proc/self/exe');
    return await import('./linux/index.ts');
  } catch (error) {
    return `objects cannot be bound here: ${errnoOf(error) ?? String(error)}`;
  }
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, ReceiptsError } from '../contract/index.ts';
import { gitTop } from '../evidence/index.ts';
import { builtInPolicy, type Policy } from '../policy/index.ts';

/** `--policy`, else the repository's own, else the built-in one. */
export async function findPolicy(file: string | undefined, directory: string): Promise<Policy> {
  const top = gitTop(directory);
  const own = top === undefined ? undefined : join(top, '.github', 'command-receipts', 'policy.yml');
  const path = file ?? (own !== undefined && existsSync(own) ? own : undefined);
  if (path === undefined) return builtInPolicy();
  const text = readPolicy(path);
  const { parsePolicy } = await import('../policy/parse.ts');
  return parsePolicy(text, path);
}

function readPolicy(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ReceiptsError('POLICY_UNREADABLE', `cannot read the policy (${errnoOf(error) ?? 'unknown'})`, {
      where: path,
      next: 'Name a readable file with --policy, or leave the option out to use the built-in policy.',
      cause: error,
    });
  }
}

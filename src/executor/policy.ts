import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../contract/index.ts';
import { gitTop, readRegularFile } from '../evidence/index.ts';
import { builtInPolicy, type Policy } from '../policy/index.ts';

/** What a person writes by hand is small. */
const LARGEST_POLICY = 1024 * 1024;

/** `--policy`, else the repository's own, else the built-in one. */
export async function findPolicy(file: string | undefined, directory: string): Promise<Policy> {
  const path = file ?? ownPolicy(directory);
  if (path === undefined) return builtInPolicy();
  const bytes = readRegularFile(path, {
    limit: LARGEST_POLICY,
    code: 'POLICY_UNREADABLE',
    next: 'Name a readable file with --policy, or remove what stands there to use the built-in policy.',
  });
  const { parsePolicy } = await import('../policy/parse.ts');
  return parsePolicy(bytes.toString('utf8'), path);
}

/** Only a policy that is really not there makes room for the built-in one: a broken link or an unreadable place does not. */
function ownPolicy(directory: string): string | undefined {
  const top = gitTop(directory);
  if (top === undefined) return undefined;
  const path = join(top, '.github', 'command-receipts', 'policy.yml');
  try {
    lstatSync(path);
    return path;
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? undefined : path;
  }
}

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The closest directory at or above `start` that holds `.git` (a directory, or a file in work trees). */
export function gitTop(start: string): string | undefined {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory;
    if (dirname(directory) === directory) return undefined;
  }
}

/** Where evidence goes: `--store`, in Actions below RUNNER_TEMP, else `.receipts` at the git top or here. */
export function storeLocation(options: {
  readonly store: string | undefined;
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
}): string {
  const { store, directory, environment } = options;
  if (store !== undefined) return resolve(directory, store);
  const temporary = environment.RUNNER_TEMP;
  if (environment.GITHUB_ACTIONS === 'true' && temporary) return join(temporary, 'command-receipts');
  return join(gitTop(directory) ?? directory, '.receipts');
}

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Tests run what users run: the bundle, built from the sources as they stand. */
export function setup(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/build.mjs', import.meta.url))], {
    stdio: 'inherit',
  });
}

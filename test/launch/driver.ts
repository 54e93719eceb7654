import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { DriverOrder } from '../fixtures/launch/driver.ts';
import { FIXTURES, workspace } from './harness.ts';

/** `nobody` everywhere: an ordinary user that needs no account. */
export const ORDINARY = 65534;

export interface Report {
  readonly pid: number;
  readonly protection?: { readonly dumpable: boolean; readonly inspectorOpen: boolean };
  readonly outcome?: {
    readonly ok: boolean;
    readonly code?: string;
    readonly message?: string;
    readonly facts?: Record<string, never>;
  };
  readonly exit?: { readonly kind: string; readonly exitCode: number | null; readonly signal: string | null };
  readonly output?: string;
  readonly finished?: { readonly flags: readonly string[]; readonly gaps: readonly unknown[] };
  readonly signalled?: boolean;
  readonly error?: { readonly code: string };
}

let bundle: Promise<string> | undefined;

/** The driver as plain JavaScript in a directory that anyone may read. */
export function driverPath(): Promise<string> {
  bundle ??= (async () => {
    const directory = workspace();
    const outfile = join(directory, 'driver.mjs');
    mkdirSync(join(directory, 'node_modules'));
    for (const name of ['koffi', '@koromix']) {
      symlinkSync(join(import.meta.dirname, '../../node_modules', name), join(directory, 'node_modules', name));
    }
    await build({
      entryPoints: [join(FIXTURES, 'driver.ts')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['koffi'],
      outfile,
    });
    return outfile;
  })();
  return bundle;
}

export interface DriverRun {
  readonly pid: number;
  readonly report: Promise<Report>;
  readonly stderr: () => string;
  end(): void;
}

export async function drive(
  order: DriverOrder,
  user = ORDINARY,
  environment: Record<string, string> = {},
): Promise<DriverRun> {
  const child = spawn(process.execPath, [await driverPath()], {
    uid: user,
    gid: user,
    env: { PATH: '/usr/bin:/bin', DRIVER_ORDER: JSON.stringify(order), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stderr.on('data', (bytes: Buffer) => {
    errors += bytes.toString();
  });
  const report = new Promise<Report>((resolve, reject) => {
    child.on('error', reject);
    child.stdout.on('data', (bytes: Buffer) => {
      output += bytes.toString();
      if (output.includes('\n')) resolve(JSON.parse(output) as Report);
    });
    child.on('close', () => reject(new Error(`the driver ended without a report: ${errors}`)));
  });
  return { pid: child.pid ?? 0, report, stderr: () => errors, end: () => void child.kill('SIGKILL') };
}

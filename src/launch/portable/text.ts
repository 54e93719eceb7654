import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** A shell text as a file that only its owner may read. Nothing seals it: the receipt's script mode is `unbound`. */
export interface TextFile {
  readonly path: string;
  remove(): void;
}

/** PowerShell and cmd go by the extension, as in the runner's own temporary scripts. */
const EXTENSIONS: Readonly<Record<string, string>> = { pwsh: '.ps1', powershell: '.ps1', cmd: '.cmd', python: '.py' };

export function writeText(shell: string, text: string): TextFile {
  const directory = mkdtempSync(join(tmpdir(), 'command-receipts-'));
  const name = basename(shell)
    .replace(/\.exe$/i, '')
    .toLowerCase();
  const path = join(directory, `script${EXTENSIONS[name] ?? '.sh'}`);
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  return { path, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

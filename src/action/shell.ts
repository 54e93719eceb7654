import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ReceiptsError } from '../contract/index.ts';
import type { AttemptRequest } from '../executor/index.ts';
import { splitArguments } from './arguments.ts';

type ShellProgram = Extract<AttemptRequest['program'], { mode: 'shell' }>;

/*
 * Shells as a plain `run:` step has them: actions/runner at 258d6c8, src/Runner.Worker/Handlers/ScriptHandlerHelpers.cs
 * (_defaultArguments, FixUpScriptContents, ParseShellOptionString) and ScriptHandler.cs (RunAsync): without `shell:` the
 * program is bash, or sh where there is none, with the arguments of sh; a custom shell is split at its first space, and the
 * rest is a .NET format string with the script's path at {0}.
 */
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  bash: ['--noprofile', '--norc', '-e', '-o', 'pipefail', '{0}'],
  sh: ['-e', '{0}'],
  python: ['{0}'],
  // The runner's `. '{0}'` takes files named *.ps1 only; the sealed script has no name, so its text is read and dot-sourced.
  pwsh: ['-command', ". ([ScriptBlock]::Create([IO.File]::ReadAllText('{0}')))"],
};

/** The program that interprets `text`. Throws USAGE for a shell that is neither built in nor has `{0}`. */
export function shellProgram(text: string, shell: string, environment: NodeJS.ProcessEnv): ShellProgram {
  if (shell === '') {
    const name = isOnPath('bash', environment) ? 'bash' : 'sh';
    return { mode: 'shell', shell: name, args: BUILT_IN.sh ?? [], text };
  }
  const space = shell.indexOf(' ');
  const name = space < 0 ? shell : shell.slice(0, space);
  const format = space < 0 ? '' : shell.slice(space + 1).trimStart();
  const args = format === '' ? BUILT_IN[name.toLowerCase()] : splitArguments(format).map(unescapeBraces);
  if (args === undefined || !args.some((argument) => argument.includes('{0}')))
    throw new ReceiptsError('USAGE', 'is neither built in nor has {0} in the place of the script', {
      next: 'Leave it out, or write bash, sh, python, pwsh, or a command like: perl {0}',
    });
  return { mode: 'shell', shell: name, args, text: fixedUp(name, text) };
}

function fixedUp(shell: string, text: string): string {
  if (shell.toLowerCase() !== 'pwsh') return text;
  const exit = 'if ((Test-Path -LiteralPath variable:\\LASTEXITCODE)) { exit $LASTEXITCODE }';
  return `$ErrorActionPreference = 'stop'\n${text}\n${exit}`;
}

/** `string.Format` of .NET: literal braces are doubled. */
function unescapeBraces(argument: string): string {
  const literal = argument.replaceAll('{0}', '');
  if (/\{\{0\}\}/.test(argument) || /[{}]/.test(literal.replaceAll('{{', '').replaceAll('}}', '')))
    throw new ReceiptsError('USAGE', 'has a brace that is neither {0} nor doubled', {
      next: 'Write {0} for the script, and {{ and }} for braces.',
    });
  return argument.replaceAll('{{', '{').replaceAll('}}', '}');
}

function isOnPath(name: string, environment: NodeJS.ProcessEnv): boolean {
  return (environment.PATH ?? '').split(delimiter).some((directory) => {
    try {
      if (directory !== '') accessSync(join(directory, name), constants.X_OK);
      return directory !== '';
    } catch {
      return false;
    }
  });
}

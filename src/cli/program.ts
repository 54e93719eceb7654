import { Command, CommanderError } from 'commander';
import { EXIT, ReceiptsError, RUN_EXIT, VERSION } from '../contract/index.ts';
import type { ProtectionReport } from '../launch/index.ts';
import { COMMANDS } from './commands.ts';
import { COMMANDER_OUTPUT, errorDocument, printError, printJson, watchOutput } from './output.ts';

export async function main(argv: string[], protection: ProtectionReport | undefined): Promise<void> {
  // Usage errors are 2 everywhere but in `run`, where the codes below 125 belong to the command.
  const unusable = argv[2] === 'run' ? RUN_EXIT.refused : EXIT.unusable;
  const output = watchOutput();
  let ranCommand = false;
  try {
    process.exitCode = await parse(argv, protection);
    ranCommand = argv[2] === 'run';
  } catch (error) {
    process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? EXIT.ok : unusable;
    if (process.exitCode !== EXIT.ok) report(error, wantsJson(argv));
  }
  // What the command did stands, whether or not it could be told.
  if ((await output.failed()) && !ranCommand) process.exitCode = unusable;
  // Handles of a closed console must not keep us, and a pending timer must not delay the exit code.
  process.exit();
}

async function parse(argv: string[], protection: ProtectionReport | undefined): Promise<number> {
  let exitCode = 0;
  const program = new Command('receipts')
    .description('Signed, redacted, verifiable facts about the commands that really ran.')
    .version(VERSION, '-V, --version')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help for the options)')
    .configureOutput(COMMANDER_OUTPUT)
    .exitOverride();
  for (const add of COMMANDS)
    add(program, {
      protection,
      exitWith: (code) => {
        exitCode = code;
      },
    });
  await program.parseAsync(argv);
  return exitCode;
}

/** On stderr commander has already told of its own errors. */
function report(error: unknown, json: boolean): void {
  if (json) printJson(errorDocument(error instanceof CommanderError ? usageError(error) : error));
  if (!(error instanceof CommanderError)) printError(error);
}

function usageError({ message }: CommanderError): ReceiptsError {
  return new ReceiptsError('USAGE', message.replace(/^error: /, ''), { next: 'See the options with: --help' });
}

/** Asked for before the command's own words begin. */
function wantsJson(argv: string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}

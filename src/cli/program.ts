import { Command, CommanderError } from 'commander';
import { EXIT, RUN_EXIT, VERSION } from '../contract/index.ts';
import type { ProtectionReport } from '../launch/index.ts';
import { COMMANDS } from './commands.ts';
import { COMMANDER_OUTPUT, errorDocument, printError, printJson } from './output.ts';

export async function main(argv: string[], protection: ProtectionReport | undefined): Promise<void> {
  // Usage errors are 2 everywhere but in `run`, where the codes below 125 belong to the command.
  const inRun = argv[2] === 'run';
  // `receipts list | head` closes our output: what is left unsaid is no fault.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    process.exitCode = await parse(argv, protection);
  } catch (error) {
    if (error instanceof CommanderError)
      process.exitCode = error.exitCode === 0 ? 0 : inRun ? RUN_EXIT.refused : EXIT.unusable;
    else {
      if (wantsJson(argv)) printJson(errorDocument(error));
      printError(error);
      process.exitCode = inRun ? RUN_EXIT.refused : EXIT.unusable;
    }
  }
  await Promise.all([handedOver(process.stdout), handedOver(process.stderr)]);
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

/** A pipe takes what its reader leaves room for: the rest has to be waited for, unless nobody reads any more. */
function handedOver(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

/** Asked for before the command's own words begin. */
function wantsJson(argv: string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}

import { Command, CommanderError, Option } from 'commander';
import { EXIT, RUN_EXIT, VERSION } from '../contract/index.ts';
import type { ProtectionReport } from '../launch/index.ts';
import { errorDocument, printError, printJson } from './output.ts';

const RUN_HELP = `
The command's output is shown live and redacted; its receipt is signed and stored.

Exit codes: the command's own; 128+n for signal n; 124 timed out; 125 refused or our failure;
126 found but not executable; 127 not found.

Examples:
  receipts run -- npm test
  receipts run --task release --step build -- make -j4
  receipts run --shell 'ls | wc -l'`;

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

async function parse(argv: string[], protection: ProtectionReport | undefined): Promise<number> {
  let exitCode = 0;
  const program = new Command('receipts')
    .description('Signed, redacted, verifiable facts about the commands that really ran.')
    .version(VERSION, '-V, --version')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help for the options)')
    .exitOverride();
  const store = () => new Option('--store <dir>', 'where the evidence is (default: .receipts at the git top or here)');
  const json = () => new Option('--json', 'print one JSON document on stdout');

  program
    .command('run')
    .description('run a command under a receipt')
    .usage("[options] -- ARGV...\n       receipts run [options] --shell 'TEXT'")
    .argument('[argv...]', 'the command and its arguments')
    .passThroughOptions()
    .option('--shell <text>', 'run this shell text instead of an argument vector')
    .option('--shell-program <command>', 'what interprets --shell; {0} stands for the script', 'sh {0}')
    .option('--step <id>', 'name of the step within its task')
    .option('--task <id>', 'append to this task; it stays open until `receipts close`')
    .addOption(store())
    .option('--cwd <dir>', 'directory to run in', '.')
    .option('--workspace <dir>', 'directory that --cwd may not leave (default: the git top or here)')
    .option('--timeout <duration>', 'end the command after this time: 90s, 10m, 2h')
    .option('--kill-after <duration>', 'time between TERM and KILL after a timeout', '10s')
    .option('--grace <duration>', 'time for background processes to let go of the output', '5s')
    .option('--policy <file>', 'policy document (default: .github/command-receipts/policy.yml, else built in)')
    .option('-q, --quiet', 'say nothing of our own unless something fails')
    .option('--json', "print one JSON document on stdout; all of the command's output goes to stderr")
    .addHelpText('after', RUN_HELP)
    .action(async (words: string[], options) => {
      exitCode = await (await import('./run.ts')).run(words, options, protection);
    });

  program
    .command('verify')
    .description('verify receipts, tasks or whole stores, offline')
    .argument('[path...]', 'stores, task directories, receipt directories or files (default: the store here)')
    .option('--trust <file>', 'trusted keys (default: trust.yml of COMMAND_RECEIPTS_HOME)')
    .option('--policy <file>', 'require that receipts were decided by this policy')
    .option('--no-bodies', 'do not check stored output')
    .addOption(json())
    .addHelpText('after', '\nExit codes: 0 all verified; 1 something is not; 2 unusable input.')
    .action(async (paths: string[], options) => {
      exitCode = await (await import('./verify.ts')).verify(paths, options);
    });

  program
    .command('show')
    .description('show one receipt, with what verifies of it')
    .argument('<id>', 'receipt id, or the beginning of one')
    .addOption(store())
    .option('--trust <file>', 'trusted keys')
    .addOption(new Option('--output <stream>', 'print the stored output instead').choices(['stdout', 'stderr']))
    .addOption(json())
    .action(async (id: string, options) => {
      exitCode = await (await import('./show.ts')).show(id, options);
    });

  program
    .command('list')
    .description('list the receipts of a store')
    .addOption(store())
    .option('--task <id>', 'only those of this task')
    .option('--trust <file>', 'trusted keys')
    .addOption(json())
    .action(async (options) => {
      exitCode = await (await import('./list.ts')).list(options);
    });

  program
    .command('recover')
    .description('issue receipts for attempts whose executor is gone')
    .addOption(store())
    .addOption(json())
    .action(async (options) => {
      exitCode = await (await import('./recover.ts')).recover(options);
    });

  program
    .command('close')
    .description('close a task for good')
    .argument('<task>', 'task id')
    .addOption(store())
    .addOption(json())
    .action(async (task: string, options) => {
      exitCode = await (await import('./close.ts')).close(task, options);
    });

  await program.parseAsync(argv);
  return exitCode;
}

import { type Command, Option } from 'commander';
import type { ProtectionReport } from '../launch/index.ts';

/** What the subcommands are given, and where their exit code goes. Each loads its own part when it is asked for. */
interface Host {
  readonly protection: ProtectionReport | undefined;
  exitWith(code: number): void;
}

export const COMMANDS: ReadonlyArray<(program: Command, host: Host) => void> = [
  addRun,
  addVerify,
  addShow,
  addList,
  addRecover,
  addClose,
];

const RUN_HELP = `
The command's output is shown live and redacted; its receipt is signed and stored.

Exit codes: the command's own; 128+n for signal n; 124 timed out; 125 refused or our failure;
126 found but not executable; 127 not found.

Examples:
  receipts run -- npm test
  receipts run --task release --step build -- make -j4
  receipts run --shell 'ls | wc -l'`;

function storeOption(): Option {
  return new Option('--store <dir>', 'where the evidence is (default: .receipts at the git top or here)');
}

function jsonOption(): Option {
  return new Option('--json', 'print one JSON document on stdout');
}

function addRun(program: Command, { protection, exitWith }: Host): void {
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
    .addOption(storeOption())
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
      exitWith(await (await import('./run.ts')).run(words, options, protection));
    });
}

function addVerify(program: Command, { exitWith }: Host): void {
  program
    .command('verify')
    .description('verify receipts, tasks or whole stores, offline')
    .argument('[path...]', 'stores, task directories, receipt directories or files (default: the store here)')
    .option('--trust <file>', 'trusted keys (default: trust.yml of COMMAND_RECEIPTS_HOME)')
    .option('--policy <file>', 'require that receipts were decided by this policy')
    .option('--no-bodies', 'do not check stored output')
    .addOption(jsonOption())
    .addHelpText('after', '\nExit codes: 0 all verified; 1 something is not; 2 unusable input.')
    .action(async (paths: string[], options) => {
      exitWith(await (await import('./verify.ts')).verify(paths, options));
    });
}

function addShow(program: Command, { exitWith }: Host): void {
  program
    .command('show')
    .description('show one receipt, with what verifies of it')
    .argument('<id>', 'receipt id, or the beginning of one')
    .addOption(storeOption())
    .option('--trust <file>', 'trusted keys')
    .addOption(
      new Option('--output <stream>', 'print the stored output instead')
        .choices(['stdout', 'stderr'])
        .conflicts('json'),
    )
    .option('--unverified', 'with --output: print it although its integrity does not verify')
    .addOption(jsonOption())
    .addHelpText('after', '\nExit codes: 0 the receipt verifies; 1 it does not; 2 unusable input.')
    .action(async (id: string, options) => {
      exitWith(await (await import('./show.ts')).show(id, options));
    });
}

function addList(program: Command, { exitWith }: Host): void {
  program
    .command('list')
    .description('list the receipts of a store')
    .addOption(storeOption())
    .option('--task <id>', 'only those of this task')
    .option('--trust <file>', 'trusted keys')
    .addOption(jsonOption())
    .action(async (options) => {
      exitWith(await (await import('./list.ts')).list(options));
    });
}

function addRecover(program: Command, { protection, exitWith }: Host): void {
  program
    .command('recover')
    .description('issue receipts for attempts whose executor is gone')
    .addOption(storeOption())
    .option('-q, --quiet', 'say nothing but the result')
    .addOption(jsonOption())
    .action(async (options) => {
      exitWith(await (await import('./recover.ts')).recover(options, protection));
    });
}

function addClose(program: Command, { protection, exitWith }: Host): void {
  program
    .command('close')
    .description('close a task for good')
    .argument('<task>', 'task id')
    .addOption(storeOption())
    .option('-q, --quiet', 'say nothing but the result')
    .addOption(jsonOption())
    .action(async (task: string, options) => {
      exitWith(await (await import('./close.ts')).close(task, options, protection));
    });
}

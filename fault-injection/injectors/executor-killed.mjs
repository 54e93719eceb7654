import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { evidenceFiles, journalOf, receiptOf } from '../harness/artifact.mjs';
import { checks, runCases } from '../harness/cases.mjs';
import { spinUntil } from '../harness/moments.mjs';
import { endOrphan, eventually } from '../harness/processes.mjs';

/** What the verifier has to say of a journal that ends with a stage. */
const MISSING = {
  REQUESTED: { code: 'NEVER_STARTED', stage: 'BOUND' },
  BOUND: { code: 'MISSING_TERMINATED', stage: 'STARTED' },
  STARTED: { code: 'MISSING_TERMINATED', stage: 'TERMINATED' },
};
/** Not one of these may come of a crash: the chain is short, not false. */
const ABOUT_INTEGRITY = [
  'CHAIN_BROKEN',
  'CHAIN_GAP',
  'CHAIN_FORK',
  'JOURNAL_BROKEN',
  'MALFORMED',
  'INVALID_SIGNATURE',
  'UNEXPECTED_FILE',
  'BYTE_ACCOUNTING',
  'OUTPUT_DIGEST',
];

const run = (context) =>
  runCases(
    context,
    Object.keys(MISSING).map((stage) => killedAfter(context, stage)),
  );

export const executorKilled = {
  name: 'executor-killed',
  expectation: 'verify names the missing stage; recover issues UNKNOWN_TERMINATION once, and verify names that',
  run,
};

function killedAfter({ subject }, stage) {
  return {
    name: `after ${stage}`,
    rounds: 3,
    attack: (place) => strike(subject, place, stage),
    judge: judge(subject),
  };
}

/** The command notes its pid, prints and waits, so that whatever the executor left of it can be found and ended. */
async function strike(subject, place, stage) {
  const script = join(place, 'wait.sh');
  const pidFile = join(place, 'pid');
  writeFileSync(script, `echo $$ > ${pidFile}\necho begun\nfor i in $(seq 60); do sleep 1; done\n`);
  const started = subject.start({ place, argv: ['sh', script] });
  const reached = spinUntil(stage, started);
  process.kill(started.pid, 'SIGKILL');
  const { signal } = await started.ended;
  const last = journalOf(started.store).at(-1)?.event;
  const orphan = await orphanOf(pidFile, last === 'STARTED' ? 5000 : 150);
  if (orphan) endOrphan(orphan, script);
  return { ...started, reached, signal, last, outcome: `ended after ${last}` };
}

async function orphanOf(pidFile, limitMs) {
  return eventually(() => {
    try {
      return Number(readFileSync(pidFile, 'utf8')) || undefined;
    } catch {
      return undefined;
    }
  }, limitMs);
}

/** The verdict after the crash, the recovery, the verdict on what it issued, and a second recovery. */
function judge(subject) {
  return (facts) => {
    const rounds = facts.map((fact) => ({ ...fact, check: checks(fact.round) }));
    const tried = rounds.filter(wasKilledInTime);
    const stores = tried.map(({ store }) => store);
    if (stores.length > 0) {
      const before = subject.verify(stores);
      for (const round of tried) judgeCrash(round, before.of(round.store));
      for (const round of tried) judgeRecovery(round, subject.recover(round.store));
      const after = subject.verify(stores);
      for (const round of tried) judgeRecovered(round, after.of(round.store));
      for (const round of tried) judgeRepetition(round, subject);
    }
    return rounds.flatMap(({ check }) => check.found);
  };
}

function wasKilledInTime({ check, reached, signal, last }) {
  return check.that(
    reached && signal === 'SIGKILL' && MISSING[last],
    `the executor was not killed in time (last stage ${last})`,
  );
}

function judgeCrash({ check, last }, { verified, codes, unsealed }) {
  const { code, stage } = MISSING[last];
  check.that(!verified, 'verify accepts what the crash left');
  check.that(codes.has(code), `verify does not name ${code} but ${list(codes)}`);
  check.that(unsealed[0]?.missingStage === stage, `verify names ${unsealed[0]?.missingStage} as missing, not ${stage}`);
  check.that(integrityOf(codes).length === 0, `the crash made the chain false: ${integrityOf(codes)}`);
}

function judgeRecovery({ check, store, last }, { exitCode, stderr }) {
  check.that(exitCode === 0, `recover exits ${exitCode}: ${stderr}`);
  const found = receiptOf(store);
  if (!check.that(found, 'recover issued no receipt')) return;
  const { termination, evidence } = found.receipt;
  const { stage } = MISSING[last];
  check.that(termination.kind === 'unknown', `the recovered termination is ${termination.kind}`);
  check.that(termination.exitCode === null, `the recovered receipt has the exit code ${termination.exitCode}`);
  check.that(
    termination.missingStage === stage,
    `the recovered receipt misses ${termination.missingStage}, not ${stage}`,
  );
  check.that(evidence?.recoveredBy?.keyId, 'the receipt does not say who recovered it');
}

function judgeRecovered({ check }, { verified, codes }) {
  check.that(!verified, 'verify accepts the recovered receipt');
  check.that(codes.has('UNKNOWN_TERMINATION'), `verify does not name UNKNOWN_TERMINATION but ${list(codes)}`);
  check.that(integrityOf(codes).length === 0, `recovery left a false chain: ${integrityOf(codes)}`);
}

function judgeRepetition({ check, store }, subject) {
  const stored = snapshot(store);
  subject.recover(store);
  check.that(snapshot(store) === stored, 'a second recovery changed the store');
}

const integrityOf = (codes) => ABOUT_INTEGRITY.filter((code) => codes.has(code));
const list = (codes) => [...codes].join(', ') || 'nothing';
const snapshot = (store) =>
  evidenceFiles(store)
    .map((path) => `${path}\n${readFileSync(path, 'base64')}`)
    .join('\n');

import { mkdirSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { receiptOf, wholeBody } from '../harness/artifact.mjs';
import { checks, runCases } from '../harness/cases.mjs';
import { spinUntil, spinWhileRunning, strikeAtBound } from '../harness/moments.mjs';

const LEAVING = ['CWD_ESCAPES', 'CWD_NOT_FOUND'];

const run = (context) =>
  runCases(context, [
    atBound(context, 'swapped at BOUND', 'second'),
    atBound(context, 'swapped out of the workspace at BOUND', '../outside'),
    inLoop(context, 'flipped in a loop', ['first', 'second']),
    inLoop(context, 'flipped out of the workspace in a loop', ['first', '../outside']),
  ]);

export const cwdSwapped = {
  name: 'cwd-swapped',
  expectation: 'the directory it ran in is the one recorded, inside the workspace, or it was refused',
  run,
};

/** A workspace with two directories, a third outside, and `link`, which `--cwd` names. */
function layOut(place) {
  const workspace = join(place, 'workspace');
  for (const name of ['workspace/first', 'workspace/second', 'outside'])
    mkdirSync(join(place, name), { recursive: true });
  symlinkSync('first', join(workspace, 'link'));
  const request = {
    place,
    options: ['--workspace', workspace, '--cwd', 'link'],
    cwd: workspace,
    argv: ['stat', '-c', '%d:%i', '.'],
  };
  return { place, workspace, request };
}

let serial = 0;
function pointTo({ workspace }, directory) {
  const fresh = join(workspace, `.link-${++serial}`);
  symlinkSync(directory, fresh);
  renameSync(fresh, join(workspace, 'link'));
  return `pointed to ${directory}`;
}

function atBound({ subject }, name, directory) {
  return {
    name,
    rounds: 2,
    controlRounds: 8,
    attack: (place) =>
      strikeAtBound(
        subject,
        (attempt) => layOut(join(place, String(attempt))),
        (laid) => pointTo(laid, directory),
      ),
    judge: judge(subject),
  };
}

function inLoop({ subject }, name, directories) {
  return {
    name,
    rounds: 5,
    controlRounds: 20,
    async attack(place) {
      const laid = layOut(place);
      const started = subject.start(laid.request);
      spinUntil('REQUESTED', started);
      spinWhileRunning(started, (turn) => pointTo(laid, directories[(turn + 1) % 2]));
      return { ...laid, ...started, ...(await started.ended) };
    },
    judge: judge(subject),
  };
}

function judge(subject) {
  return (facts) => {
    const verdicts = subject.verify(facts.map(({ store }) => store));
    return facts.flatMap((fact) => {
      const check = checks(fact.round);
      const found = receiptOf(fact.store);
      if (fact.early === false) check.that(false, 'the attack never came before the start: nothing was tried');
      if (!check.that(found, 'there is no receipt')) return check.found;
      const { termination, cwd } = found.receipt;
      if (termination.kind === 'refused' || termination.kind === 'start-failed') {
        fact.outcome = `refused: ${termination.code}`;
        check.that(LEAVING.includes(termination.code), `refused with ${termination.code}: ${termination.message}`);
        return check.found;
      }
      const ran = wholeBody(found, 'stdout').toString('utf8').trim();
      fact.outcome = nameOf(ran, fact.place, fact.workspace);
      check.that(
        ran === `${cwd.device}:${cwd.inode}`,
        `it ran in ${ran} (${fact.outcome}), recorded is ${cwd.device}:${cwd.inode}`,
      );
      check.that(fact.outcome !== 'outside', 'it ran outside of the workspace');
      check.that(verdicts.of(fact.store).verified, 'the receipt is not verified');
      return check.found;
    });
  };
}

function nameOf(identity, place, workspace) {
  const directories = {
    first: join(workspace, 'first'),
    second: join(workspace, 'second'),
    outside: join(place, 'outside'),
  };
  const match = Object.entries(directories).find(([, path]) => {
    const { dev, ino } = statSync(path, { bigint: true });
    return identity === `${dev}:${ino}`;
  });
  return match?.[0] ?? 'unknown';
}

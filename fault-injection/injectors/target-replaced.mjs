import { receiptOf, wholeBody } from '../harness/artifact.mjs';
import { checks, runCases } from '../harness/cases.mjs';
import {
  atBound,
  borrowedPath,
  flippedLink,
  heldWriter,
  renamedRepeatedly,
  whileRunning,
} from '../harness/replacements.mjs';
import { pointTo, renameOver, rewriteInPlace, truncate } from '../harness/targets.mjs';

const DENIALS = ['EXECUTABLE_REBOUND', 'SCRIPT_REBOUND', 'UNBOUND_EXECUTABLE'];

function run(context) {
  const { subject } = context;
  const cases = [
    ...['elf', 'script'].flatMap((kind) => [
      [`${kind} renamed over at BOUND`, 1, atBound(subject, kind, renameOver), 8],
      [`${kind} rewritten at BOUND`, 1, atBound(subject, kind, rewriteInPlace), 8],
      [`${kind} truncated at BOUND`, 1, atBound(subject, kind, truncate), 8],
      [`${kind} link swapped at BOUND`, 1, atBound(subject, kind, pointTo, { linked: true }), 8],
      [`${kind} written by an earlier opener`, 1, heldWriter(subject, kind), 8],
      [`${kind} link flipped in a loop`, kind === 'elf' ? 4 : 8, flippedLink(subject, kind), 25],
    ]),
    ['script rewritten while it runs', 1, whileRunning(subject, rewriteInPlace)],
    ['script truncated while it runs', 1, whileRunning(subject, truncate)],
    ['script path borrowed while its interpreter starts', 1, borrowedPath(subject), 8],
    ['elf renamed over in a loop', 4, renamedRepeatedly(subject), 25],
  ];
  return runCases(
    context,
    cases.map(([name, rounds, attack, controlRounds]) => ({
      name,
      rounds,
      controlRounds,
      attack,
      judge: judge(subject),
    })),
  );
}

export const targetReplaced = {
  name: 'target-replaced',
  expectation: 'what ran is what the receipt has the sha256 of, or nothing ran, or a flag denies it and verify exits 1',
  run,
};

function judge(subject) {
  return (facts) => {
    const verdicts = subject.verify(facts.map(({ store }) => store));
    return facts.flatMap((fact) => {
      const check = checks(fact.round);
      const verdict = verdicts.of(fact.store);
      fact.outcome = outcomeOf(receiptOf(fact.store), verdict, fact.versions);
      if (fact.outcome.startsWith('!')) check.that(false, `${fact.outcome.slice(1)} (${fact.struck ?? 'raced'})`);
      if (fact.early === false) check.that(false, 'the attack never came before the start: nothing was tried');
      return check.found;
    });
  };
}

/** `!` begins what must not be. */
function outcomeOf(found, verdict, versions) {
  if (!found) return verdict.verified ? '!verified without a receipt' : 'no receipt';
  const { termination, executable, evidence } = found.receipt;
  if (termination.kind === 'refused' || termination.kind === 'start-failed') return 'blocked';
  const flag = evidence.flags.find((name) => DENIALS.includes(name));
  if (flag) return verdict.verified ? `!verified in spite of ${flag}` : flag;
  const answer = wholeBody(found, 'stdout').toString('utf8');
  const ran = versions.find((version) => version.answer === answer);
  const claimed = versions.find(({ sha256 }) => sha256 === executable.sha256);
  if (ran && ran === claimed) return `${ran.version} ran as bound`;
  const what = ran
    ? `the ${ran.version} version ran`
    : `neither version ran (it printed ${JSON.stringify(answer.slice(0, 40))})`;
  return `!${what}, the receipt claims the ${claimed?.version ?? 'bytes of neither'} one${verdict.verified ? ' and is verified' : ', without a flag'}`;
}

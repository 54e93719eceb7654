import { existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { receiptOf } from '../harness/artifact.mjs';
import { checks, runCases } from '../harness/cases.mjs';
import { fill, noSmallDisk, smallDisk, unmount } from '../harness/small-disk.mjs';

const DISK_KIB = 2048;

const run = (context) =>
  runCases(context, [
    fullBefore(context, 'full before the launch', 0),
    fullBefore(context, 'nearly full before the launch', 64 * 1024),
    fullMeanwhile(
      context,
      'filled by the command',
      (filler) => `head -c 100M /dev/zero > ${filler}; echo done; exit 7`,
    ),
    fullMeanwhile(context, 'filled by its own output', () => `yes 'a line of output' | head -c 8M; exit 7`),
  ]);

export const storeFull = {
  name: 'store-full',
  expectation: 'full before: 125 and nothing ran; full meanwhile: the own exit code, said so, and no verified receipt',
  unavailable: noSmallDisk,
  run,
};

function onSmallDisk(subject, name, attack, judgeOne) {
  return {
    name,
    rounds: 1,
    async attack(place) {
      const disk = join(place, 'disk');
      smallDisk(disk, DISK_KIB);
      try {
        const fact = await attack({ place, disk, store: join(disk, 'store') });
        // While the disk is still there: what is left of the evidence, and what is said of it.
        return { found: receiptOf(fact.store), verification: subject.verify([fact.store]), ...fact };
      } finally {
        unmount(disk);
      }
    },
    judge: (facts) => facts.flatMap((fact) => judgeOne(fact)),
  };
}

function fullBefore({ subject }, name, room) {
  const attack = async ({ place, disk, store }) => {
    mkdirSync(store);
    const filler = join(disk, 'filler');
    truncateSync(filler, fill(filler, room));
    const effect = join(place, 'effect');
    const ended = await subject.run({ place, store, argv: ['sh', '-c', `echo ran > ${effect}; exit 7`] });
    return { ...ended, ran: existsSync(effect) };
  };
  return onSmallDisk(subject, name, attack, (fact) => {
    const check = checks(fact.round);
    check.that(!fact.ran, 'the command was launched');
    check.that(fact.exitCode === 125, `the executor ended with ${fact.exitCode}, not 125`);
    check.that(shown(fact) !== '', 'nothing was said on stderr');
    check.that(fact.verification.exitCode !== 0, 'what is stored is verified');
    return check.found;
  });
}

function fullMeanwhile({ subject }, name, textWith) {
  const attack = ({ place, disk, store }) =>
    subject.run({ place, store, argv: ['sh', '-c', textWith(join(disk, 'filler'))], options: ['--workspace', place] });
  return onSmallDisk(subject, name, attack, (fact) => {
    const check = checks(fact.round);
    check.that(fact.exitCode === 7, `the executor ended with ${fact.exitCode}, not with the command's own 7`);
    check.that(
      /ENOSPC|no space|could not be stored/i.test(shown(fact)),
      `stderr does not say what happened: ${JSON.stringify(shown(fact).slice(0, 200))}`,
    );
    check.that(fact.verification.exitCode === 1, `verify exits ${fact.verification.exitCode}`);
    fact.outcome = fact.found ? 'receipt with EVIDENCE_BLOCKED' : 'no receipt';
    if (!fact.found) return check.found;
    const { evidence, termination } = fact.found.receipt;
    check.that(evidence.flags.includes('EVIDENCE_BLOCKED'), `the receipt has the flags [${evidence.flags}]`);
    check.that(fact.verification.of(fact.store).codes.has('EVIDENCE_BLOCKED'), 'verify does not name EVIDENCE_BLOCKED');
    check.that(termination.exitCode === 7, `the receipt records the exit code ${termination.exitCode}`);
    return check.found;
  });
}

/** Of the executor: none of the commands here prints on stderr but `head` when the disk is full. */
function shown({ console }) {
  return readFileSync(console.stderr, 'utf8').replaceAll(/^head: .*\n/gm, '');
}

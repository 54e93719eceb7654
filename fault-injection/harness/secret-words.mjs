import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { receiptOf } from './artifact.mjs';
import { leaks } from './canary.mjs';
import { checks } from './cases.mjs';
import { literal, tokens } from './tokens.mjs';

/** Whole tokens where a caller puts them. The places searched are `<place>/out` and the home: the rest is the caller's own. */

const one = (seed) => tokens(seed)[0];

function layOut(place) {
  const out = { place: join(place, 'out'), store: join(place, 'out', 'store'), cwd: place };
  mkdirSync(out.store, { recursive: true });
  return out;
}

/** Words, a program's path, the directory, a step, a variable's name; printed again by the program. */
export function wordsCase({ subject }) {
  const value = literal('MY_TOKEN in words');
  const [word, file, directory, step, name] = ['word', 'file', 'directory', 'step', 'name'].map(one);
  return {
    name: 'in words, paths and names',
    rounds: 1,
    fixed: true,
    count: () => 6,
    async attack(place) {
      const cwd = join(place, directory.text);
      const program = join(cwd, `tool-${file.text}`);
      mkdirSync(cwd);
      writeFileSync(program, '#!/bin/sh\necho "$0 $*"\npwd >&2\n');
      chmodSync(program, 0o755);
      return subject.run({
        ...layOut(place),
        options: ['--workspace', place, '--cwd', directory.text, '--step', step.text],
        argv: [program, word.text, `--key=${value.text}`],
        env: { MY_TOKEN: value.text, [`X_${name.text}`]: '1' },
      });
    },
    judge: (facts) =>
      facts.flatMap((fact) => judgeSecrets(subject, fact, [word, file, directory, step, name, value], 1)),
  };
}

/** What could not be found is named in the message that says so. */
export function errorsCase({ subject }) {
  const [program, directory] = ['missing program', 'missing directory'].map(one);
  const attempts = [
    { argv: [program.text] },
    { argv: ['true'], options: ['--cwd', directory.text] },
    { argv: [`./${directory.text}/tool`] },
  ];
  return {
    name: 'in error messages',
    rounds: attempts.length,
    fixed: true,
    attack: (place, round) => subject.run({ ...layOut(place), ...attempts[round - 1] }),
    judge: (facts) =>
      facts.flatMap((fact) => {
        const check = checks(fact.round);
        checkLeaks(check, subject, fact.place, [program, directory]);
        check.that(fact.exitCode >= 125, `the executor ended with ${fact.exitCode}`);
        return check.found;
      }),
  };
}

/** The name of a task: refused, or kept out of everything that is stored, with a chain that still verifies. */
export function taskCase({ subject }) {
  const task = one('task');
  return {
    name: "in a task's name",
    rounds: 1,
    fixed: true,
    async attack(place) {
      const ended = await subject.run({ ...layOut(place), options: ['--task', task.text], argv: ['true'] });
      if (ended.exitCode === 0) subject.close(task.text, ended.store);
      return ended;
    },
    judge: (facts) =>
      facts.flatMap(({ round, place, store, exitCode }) => {
        const check = checks(round);
        checkLeaks(check, subject, place, [task]);
        if (exitCode === 0) check.that(subject.verify([store]).of(store).verified, 'the closed task is not verified');
        else check.that(exitCode === 125, `the executor ended with ${exitCode}`);
        return check.found;
      }),
  };
}

/** For a command that printed `printed` secrets on each stream. */
export function judgeSecrets(subject, { round, place, store }, secrets, printed) {
  const check = checks(round);
  const found = receiptOf(store);
  check.that(subject.verify([store]).of(store).verified, 'the receipt is not verified');
  checkLeaks(check, subject, place, secrets);
  for (const stream of ['stdout', 'stderr']) {
    const hits = found?.receipt.streams[stream].redaction.hits.reduce((sum, { count }) => sum + count, 0);
    check.that(hits >= printed, `${stream}: ${hits} hits, at least ${printed} were printed`);
  }
  return check.found;
}

function checkLeaks(check, subject, place, secrets) {
  for (const { token, where } of leaks(secrets, [join(place, 'out'), subject.home])) {
    const split = token.at ? `, split at ${token.at}` : '';
    check.that(false, `${token.prefix}… (${token.text.length} bytes${split}) in ${where}`);
  }
}

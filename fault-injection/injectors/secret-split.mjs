import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { receiptOf } from '../harness/artifact.mjs';
import { leaks } from '../harness/canary.mjs';
import { checks, runCases } from '../harness/cases.mjs';
import { formsOf, literal, tokens } from '../harness/tokens.mjs';

const emitter = fileURLToPath(new URL('../programs/emit.mjs', import.meta.url));
/** Long enough that the reader has seen the first part alone. */
const PAUSE_MS = 12;

const run = (context) => runCases(context, [outputCase(context), wordsCase(context)]);

export const secretSplit = {
  name: 'secret-split',
  expectation: 'no secret in any form in store, home or console; the receipt counts the hits',
  run,
};

function positions({ prefix, text }, every) {
  if (every) return Array.from({ length: text.length - 1 }, (_, index) => index + 1);
  const wanted = [
    1,
    prefix.length - 1,
    prefix.length,
    prefix.length + 1,
    text.length >> 1,
    text.length - 6,
    text.length - 1,
  ];
  return [...new Set(wanted)].filter((at) => at > 0 && at < text.length);
}

/** A fresh token for every position of every format, each written in two parts with a pause, on both streams. */
function splitTokens(every) {
  const count = tokens('count').length;
  return Array.from({ length: count }, (_, format) =>
    positions(tokens('length')[format], every).map((at) => ({ at, ...tokens(`split at ${at}`)[format] })),
  ).flat();
}

function writes(parts) {
  return parts.flatMap((text, index) =>
    ['stdout', 'stderr'].map((stream) => ({
      stream,
      base64: Buffer.from(text).toString('base64'),
      pauseMs: index < parts.length - 1 && stream === 'stderr' ? PAUSE_MS : 0,
    })),
  );
}

function outputCase({ subject, full }) {
  const split = splitTokens(full);
  const value = literal('MY_TOKEN');
  const encoded = formsOf(value.text).filter((form) => !value.text.includes(form));
  const plan = [
    ...split.flatMap(({ text, at }) => writes([text.slice(0, at), `${text.slice(at)}\n`])),
    ...positions(value, full).flatMap((at) => writes([value.text.slice(0, at), `${value.text.slice(at)}\n`])),
    ...encoded.flatMap((form) => writes([form.slice(0, form.length >> 1), `${form.slice(form.length >> 1)}\n`])),
    ...writes([...value.text, '\n']),
  ];
  const printed = split.length + positions(value, full).length + encoded.length + 1;
  return {
    name: 'in two writes',
    rounds: 1,
    fixed: true,
    count: () => printed * 2,
    async attack(place) {
      const file = join(place, 'plan.json');
      writeFileSync(file, JSON.stringify(plan));
      const store = join(place, 'out', 'store');
      mkdirSync(store, { recursive: true });
      return subject.run({
        place: join(place, 'out'),
        cwd: place,
        store,
        argv: [process.execPath, emitter, file],
        env: { MY_TOKEN: value.text },
      });
    },
    judge: (facts) => facts.flatMap((fact) => judge(subject, fact, [...split, value], printed)),
  };
}

/** Whole tokens where a caller puts them: words, a program's path, the directory, a step, a variable's name. */
function wordsCase({ subject }) {
  const value = literal('MY_TOKEN in words');
  const [word, file, directory, step, name] = ['word', 'file', 'directory', 'step', 'name'].map(
    (seed) => tokens(seed)[0],
  );
  return {
    name: 'in words, paths and names',
    rounds: 1,
    fixed: true,
    count: () => 6,
    async attack(place) {
      const cwd = join(place, directory.text);
      const program = join(cwd, `tool-${file.text}`);
      mkdirSync(join(place, 'out', 'store'), { recursive: true });
      mkdirSync(cwd);
      writeFileSync(program, '#!/bin/sh\necho "$0 $*"\npwd >&2\n');
      chmodSync(program, 0o755);
      return subject.run({
        place: join(place, 'out'),
        store: join(place, 'out', 'store'),
        cwd: place,
        options: ['--workspace', place, '--cwd', directory.text, '--step', step.text],
        argv: [program, word.text, `--key=${value.text}`],
        env: { MY_TOKEN: value.text, [`X_${name.text}`]: '1' },
      });
    },
    judge: (facts) => facts.flatMap((fact) => judge(subject, fact, [word, file, directory, step, name, value], 1)),
  };
}

function judge(subject, { round, place, store }, secrets, printed) {
  const check = checks(round);
  const found = receiptOf(store);
  check.that(subject.verify([store]).of(store).verified, 'the receipt is not verified');
  for (const { token, where } of leaks(secrets, [join(place, 'out'), subject.home]))
    check.that(
      false,
      `${token.prefix}… (${token.text.length} bytes${token.at ? `, split at ${token.at}` : ''}) in ${where}`,
    );
  for (const stream of ['stdout', 'stderr']) {
    const hits = found?.receipt.streams[stream].redaction.hits.reduce((sum, { count }) => sum + count, 0);
    check.that(hits >= printed, `${stream}: ${hits} hits, at least ${printed} were printed`);
  }
  return check.found;
}

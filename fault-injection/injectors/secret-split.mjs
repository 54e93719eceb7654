import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCases } from '../harness/cases.mjs';
import { errorsCase, judgeSecrets, taskCase, wordsCase } from '../harness/secret-words.mjs';
import { formsOf, literal, tokens } from '../harness/tokens.mjs';

const emitter = fileURLToPath(new URL('../programs/emit.mjs', import.meta.url));
/** Long enough that the reader has seen the first part alone. */
const PAUSE_MS = 12;

const run = (context) =>
  runCases(context, [outputCase(context), wordsCase(context), errorsCase(context), taskCase(context)]);

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
    judge: (facts) => facts.flatMap((fact) => judgeSecrets(subject, fact, [...split, value], printed)),
  };
}

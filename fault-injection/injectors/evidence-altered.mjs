import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { evidenceFiles } from '../harness/artifact.mjs';
import { checks, runCases } from '../harness/cases.mjs';

/** A position in each so many, unless all are tried. */
const EVERY = 7;
const MASKS = [0x01, 0x20, 0x80];
/** Copies judged by one `verify`. */
const BATCH = 150;
const POLICY = 'version: 1\ndefault: allow\noutput: { head: 120B, tail: 120B }\n';

const run = (context) => {
  const alterations = [];
  return runCases(context, [
    { ...flipped(context, alterations), count: () => alterations.length },
    { ...removed(context), count: () => 1 },
  ]);
};

export const evidenceAltered = {
  name: 'evidence-altered',
  expectation: 'one altered byte anywhere in the stored files: verify exits 1 and names the file',
  run,
};

/** A closed task with two receipts: one whole, one cut into head and tail. */
async function realStore({ subject }, place) {
  const store = join(place, 'store');
  const policy = join(place, 'policy.yml');
  writeFileSync(policy, POLICY);
  const options = ['--task', 'altered', '--policy', policy];
  await subject.run({ place, store, options, argv: ['sh', '-c', 'echo short; echo also short >&2'] });
  await subject.run({
    place,
    store,
    options,
    argv: ['sh', '-c', 'for i in $(seq 60); do echo "line $i"; done; exit 3'],
  });
  subject.close('altered', store);
  return { store };
}

function flipped(context, alterations) {
  const { subject, full, control } = context;
  return {
    name: 'one byte flipped',
    rounds: 1,
    fixed: true,
    attack: (place) => realStore(context, place),
    judge([{ round, place, store }]) {
      const check = checks(round);
      check.that(subject.verify([store]).exitCode === 0, 'the unaltered store is not verified');
      for (const file of evidenceFiles(store)) {
        const bytes = readFileSync(file);
        for (let at = 0; at < bytes.length; at += full ? 1 : EVERY)
          alterations.push({ file: relative(store, file), at, mask: MASKS[at % 3] });
        if ((bytes.length - 1) % EVERY !== 0)
          alterations.push({ file: relative(store, file), at: bytes.length - 1, mask: MASKS[0] });
      }
      const end = control ? Math.min(BATCH, alterations.length) : alterations.length;
      for (let from = 0; from < end; from += BATCH)
        judgeBatch(subject, check, join(place, 'copies'), store, alterations.slice(from, from + BATCH));
      return check.found;
    },
  };
}

/** Each alteration in a copy of its own; one `verify` over them all, and its verdict on each alone. */
function judgeBatch(subject, check, directory, store, alterations) {
  const copies = alterations.map((alteration, index) => ({ ...alteration, copy: join(directory, String(index)) }));
  for (const { copy, file, at, mask } of copies) {
    cpSync(store, copy, { recursive: true });
    const bytes = readFileSync(join(copy, file));
    bytes[at] ^= mask;
    writeFileSync(join(copy, file), bytes);
  }
  const verification = subject.verify(copies.map(({ copy }) => copy));
  for (const { copy, file, at, mask } of copies) {
    const { verified, problems } = verification.of(copy);
    // Copies are duplicates of each other: that finding is none of the altered byte's.
    const own = problems.filter(({ code }) => code !== 'DUPLICATE');
    const named = own.some(({ where }) => namesFile(where, join(copy, file)));
    const what = `${file} with byte ${at} ^ 0x${mask.toString(16)}`;
    if (check.that(!verified && own.length > 0, `${what}: not noticed`))
      check.that(
        named,
        `${what}: the file is not named, but ${own.map(({ code, where }) => `${code} ${relative(copy, where)}`)}`,
      );
  }
  const [first] = copies;
  check.that(
    subject.verifyExitCode(first.copy) === 1,
    `${first.file} with byte ${first.at} altered: verify alone does not exit 1`,
  );
  rmSync(directory, { recursive: true });
}

const namesFile = (where, file) => where === file || where.startsWith(`${file}:`) || where.startsWith(`${file}#`);

/** Whole files taken away, one at a time. */
function removed(context) {
  const { subject } = context;
  return {
    name: 'one file removed',
    rounds: 1,
    fixed: true,
    attack: (place) => realStore(context, place),
    judge([{ round, place, store }]) {
      const check = checks(round);
      for (const file of evidenceFiles(store).map((path) => relative(store, path))) {
        const copy = join(place, 'copy');
        mkdirSync(copy);
        cpSync(store, copy, { recursive: true });
        rmSync(join(copy, file));
        check.that(subject.verifyExitCode(copy) === 1, `${file}: removed without notice`);
        rmSync(copy, { recursive: true });
      }
      return check.found;
    },
  };
}

import { mkdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { evidenceFiles } from '../harness/artifact.mjs';
import { checks, runCases } from '../harness/cases.mjs';

/** A position in each so many, unless all are tried. */
const EVERY = 7;
const MASKS = [0x01, 0x20, 0x80];
/** Copies judged by one `verify`. */
const BATCH = 150;
const POLICY = 'version: 1\ndefault: allow\noutput: { head: 120B, tail: 120B }\n';

const run = (context) => runCases(context, [flipped(context), removed(context)]);

export const evidenceAltered = {
  name: 'evidence-altered',
  expectation: 'one altered byte anywhere in the stored files: verify exits 1 and names the file',
  run,
};

/** A closed task with a receipt whose output is cut on one stream and whole on the other; with all rounds a second one. */
async function realStore({ subject, full }, place) {
  const store = join(place, 'store');
  const policy = join(place, 'policy.yml');
  writeFileSync(policy, POLICY);
  const options = ['--task', 'altered', '--policy', policy];
  const text = 'for i in $(seq 60); do echo "line $i"; done; echo short >&2; exit 3';
  await subject.run({ place, store, options, argv: ['sh', '-c', text] });
  if (full) await subject.run({ place, store, options, argv: ['true'] });
  subject.close('altered', store);
  return { store };
}

/** Relative path and bytes of each file of evidence. */
function contentOf(store) {
  return evidenceFiles(store).map((path) => ({ file: relative(store, path), bytes: readFileSync(path) }));
}

function writeStore(directory, content) {
  for (const { file, bytes } of content) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), bytes);
  }
}

/** Every so many bytes of each file, its last one as well. */
function alterationsOf(content, every) {
  return content.flatMap(({ file, bytes }) => {
    const positions = Array.from({ length: Math.ceil(bytes.length / every) }, (_, index) => index * every);
    return [...new Set([...positions, bytes.length - 1])].map((at) => ({ file, at, mask: MASKS[at % MASKS.length] }));
  });
}

function altered(content, { file, at, mask }) {
  return content.map((one) => {
    if (one.file !== file) return one;
    const bytes = Buffer.from(one.bytes);
    bytes[at] ^= mask;
    return { file, bytes };
  });
}

function flipped(context) {
  const { subject, full, control } = context;
  let tried = [];
  return {
    name: 'one byte flipped',
    rounds: 1,
    fixed: true,
    count: () => tried.length,
    attack: (place) => realStore(context, place),
    judge([{ round, store }]) {
      const check = checks(round);
      check.that(subject.verify([store]).exitCode === 0, 'the unaltered store is not verified');
      const content = contentOf(store);
      const filled = content.filter(({ bytes }) => bytes.length > 0);
      const all = alterationsOf(filled, full ? 1 : EVERY);
      tried = control ? all.slice(0, BATCH) : all;
      const directory = context.memory;
      for (let from = 0; from < tried.length; from += BATCH)
        judgeBatch(subject, check, directory, content, tried.slice(from, from + BATCH));
      for (const { file } of filled) judgeAlone(subject, check, join(directory, 'alone'), content, file);
      return check.found;
    },
  };
}

/** Each alteration in a copy of its own; one `verify` over them all, and its verdict on each alone. */
function judgeBatch(subject, check, directory, content, alterations) {
  const copies = alterations.map((alteration, index) => ({ ...alteration, copy: join(directory, String(index)) }));
  for (const copy of copies) writeStore(copy.copy, altered(content, copy));
  const verification = subject.verify(copies.map(({ copy }) => copy));
  for (const { copy, file, at, mask } of copies) {
    const { verified, problems } = verification.of(copy);
    // Copies are duplicates of each other: that finding is none of the altered byte's.
    const own = problems.filter(({ code }) => code !== 'DUPLICATE');
    const what = `${file} with byte ${at} ^ 0x${mask.toString(16)}`;
    if (!check.that(!verified && own.length > 0, `${what}: not noticed`)) continue;
    const named = own.some(({ where }) => namesFile(where, join(copy, file)));
    const others = own.map(({ code, where }) => `${code} ${relative(copy, where)}`);
    check.that(named, `${what}: the file is not named, but ${others}`);
  }
}

const namesFile = (where, file) => where === file || where.startsWith(`${file}:`) || where.startsWith(`${file}#`);

/** Without any copies beside it, the exit code is that of this one byte. */
function judgeAlone(subject, check, copy, content, file) {
  const { length } = content.find((one) => one.file === file).bytes;
  const at = length >> 1;
  writeStore(copy, altered(content, { file, at, mask: MASKS[0] }));
  const exitCode = subject.verifyExitCode(copy);
  check.that(exitCode === 1, `${file} with byte ${at} altered: verify exits ${exitCode}`);
  rmSync(copy, { recursive: true });
}

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
      const content = contentOf(store);
      for (const { file } of content) {
        const copy = join(place, 'copy');
        writeStore(copy, content);
        unlinkSync(join(copy, file));
        const exitCode = subject.verifyExitCode(copy);
        check.that(exitCode === 1, `${file} removed: verify exits ${exitCode}`);
        rmSync(copy, { recursive: true });
      }
      return check.found;
    },
  };
}

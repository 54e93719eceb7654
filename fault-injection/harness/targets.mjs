import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { spin } from './processes.mjs';

/** What two programs are called with, and how each answers: the answer says which of them ran. */
const ELF_ARGUMENT = '/good/evil';
const ELF_VERSIONS = { good: ['dirname', '/good\n'], evil: ['basename', 'evil\n'] };
const PADDING = `${'# so that a shell has not read the end yet when it runs the beginning\n'.repeat(2000)}`;

const SCRIPTS = {
  script: (version) => `#!/bin/sh\necho ${version}\n`,
  // Read in pieces: what stands behind the padding is read when the first line has long been run.
  'slow script': (version) => `#!/bin/sh\necho begin\nsleep 0.4\n${PADDING}echo ${version}\n`,
};
const ANSWERS = { script: (version) => `${version}\n`, 'slow script': (version) => `begin\n${version}\n` };

/** Two versions of a program in `<place>/material`, and `<place>/bin/tool` on the PATH, a copy of or a link to the good one. */
export function layOut(place, kind, { linked = false } = {}) {
  const material = join(place, 'material');
  mkdirSync(material, { recursive: true });
  mkdirSync(join(place, 'bin'));
  const versions = ['good', 'evil'].map((version) => writeVersion(join(material, version), kind, version));
  const target = join(place, 'bin', 'tool');
  if (linked) symlinkSync(join(material, 'good'), target);
  else copyFileSync(join(material, 'good'), target);
  const request = {
    place,
    argv: kind === 'elf' ? ['tool', ELF_ARGUMENT] : ['tool'],
    env: { PATH: `${join(place, 'bin')}:${process.env.PATH}` },
  };
  return { place, kind, target, material, versions, request };
}

function writeVersion(path, kind, version) {
  if (kind === 'elf') copyFileSync(systemProgram(ELF_VERSIONS[version][0]), path);
  else writeFileSync(path, SCRIPTS[kind](version));
  chmodSync(path, 0o755);
  const bytes = readFileSync(path);
  const answer = kind === 'elf' ? ELF_VERSIONS[version][1] : ANSWERS[kind](version);
  return { version, bytes, sha256: createHash('sha256').update(bytes).digest('hex'), answer };
}

function systemProgram(name) {
  for (const directory of ['/usr/bin', '/bin']) {
    try {
      return realpathSync(join(directory, name));
    } catch {
      // The next one.
    }
  }
  throw new Error(`${name} is needed in /usr/bin or /bin`);
}

let serial = 0;
const beside = (target) => `${target}.${++serial}`;

/** A new file takes the name over. */
export function renameOver({ target, material }, version = 'evil') {
  const fresh = beside(target);
  copyFileSync(join(material, version), fresh);
  renameSync(fresh, target);
  return 'renamed over';
}

/** The name becomes a link to the other version, in one step. */
export function pointTo({ target, material }, version = 'evil') {
  const fresh = beside(target);
  symlinkSync(join(material, version), fresh);
  renameSync(fresh, target);
  return 'linked elsewhere';
}

/** The same inode gets other bytes. It insists for a while, as a writer that waits for a lease would. */
export function rewriteInPlace({ target, versions }, limitMs = 400) {
  let fd;
  let refusal = '';
  spin(() => {
    try {
      fd = openSync(target, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      refusal = error.code;
    }
    return fd !== undefined;
  }, limitMs);
  if (fd === undefined) return `rewriting refused: ${refusal}`;
  try {
    return overwrite(fd, versions[1].bytes);
  } finally {
    closeSync(fd);
  }
}

export function overwrite(fd, bytes) {
  ftruncateSync(fd, bytes.length);
  writeSync(fd, bytes, 0, bytes.length, 0);
  return 'rewritten in place';
}

/** Empties the file through a descriptor for reading, which breaks no lease. */
export function truncate({ target }) {
  try {
    closeSync(openSync(target, constants.O_RDONLY | constants.O_TRUNC));
    return 'truncated';
  } catch (error) {
    return `truncation refused: ${error.code}`;
  }
}

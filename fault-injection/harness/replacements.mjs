import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { has, spinUntil, spinWhileRunning, strikeAtBound } from './moments.mjs';
import { eventually } from './processes.mjs';
import { layOut, overwrite, pointTo, renameOver } from './targets.mjs';

/** Attacks on a program between its digest and its end. Each returns what it knows of the round. */

export function atBound(subject, kind, strike, options) {
  return (place) => strikeAtBound(subject, (attempt) => layOut(join(place, String(attempt)), kind, options), strike);
}

/** A writer that had the file open before anyone looked: no lease can keep it out. */
export function heldWriter(subject, kind) {
  return async (place) => {
    const fds = [];
    const prepare = (attempt) => {
      const laid = layOut(join(place, String(attempt)), kind);
      const fd = openSync(laid.target, 'r+');
      fds.push(fd);
      return { ...laid, fd };
    };
    try {
      return await strikeAtBound(subject, prepare, ({ fd, versions }) => overwrite(fd, versions[1].bytes));
    } finally {
      for (const fd of fds) closeSync(fd);
    }
  };
}

/** The shell has run the first line and has not read the last one. */
export function whileRunning(subject, strike) {
  return async (place) => {
    const laid = layOut(place, 'slow script');
    const started = subject.start(laid.request);
    const begun = await eventually(() => readFileSync(started.console.stdout, 'utf8').includes('begin'));
    const struck = begun ? strike(laid) : 'never began';
    return { ...laid, ...started, struck, ...(await started.ended) };
  };
}

/** From before the launch to its end the name changes its meaning all the time, and always comes back to the same inode. */
export function flippedLink(subject, kind) {
  return async (place) => {
    const laid = layOut(place, kind, { linked: true });
    const started = subject.start(laid.request);
    spinUntil('REQUESTED', started);
    spinWhileRunning(started, (turn) => {
      pointTo(laid, turn % 2 === 0 ? 'evil' : 'good');
      const until = process.hrtime.bigint() + BigInt(Math.floor(Math.random() * 400_000));
      while (process.hrtime.bigint() < until);
    });
    return { ...laid, ...started, ...(await started.ended) };
  };
}

export function renamedRepeatedly(subject) {
  return async (place) => {
    const laid = layOut(place, 'elf');
    const started = subject.start(laid.request);
    spinUntil('REQUESTED', started);
    spinWhileRunning(started, (turn) => renameOver(laid, turn % 2 === 0 ? 'evil' : 'good'));
    return { ...laid, ...started, ...(await started.ended) };
  };
}

/**
 * An interpreter that starts slowly opens its script by name some time after every check. The link is pointed elsewhere in
 * between, and the program it leads to puts it back first of all.
 */
export function borrowedPath(subject) {
  return async (place) => {
    const laid = layOut(place, 'script', { linked: true });
    const shebang = `#!${process.execPath}\n`;
    const restore = `const fs = require('fs'); fs.symlinkSync(${JSON.stringify(join(laid.material, 'good'))}, 'restored'); fs.renameSync('restored', ${JSON.stringify(laid.target)});`;
    const texts = [`${shebang}console.log('good');\n`, `${shebang}${restore}\nconsole.log('evil');\n`];
    const versions = laid.versions.map((version, index) => {
      writeFileSync(join(laid.material, version.version), texts[index]);
      return { ...version, sha256: createHash('sha256').update(texts[index]).digest('hex') };
    });
    const started = subject.start(laid.request);
    const reached = spinUntil('STARTED', started);
    const struck = reached && !has('TERMINATED', started.store) ? pointTo(laid) : 'never started';
    return { ...laid, versions, ...started, struck, ...(await started.ended) };
  };
}

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bind, executable, finishRun, workspace } from './harness.ts';

/**
 * binfmt_misc puts an interpreter in front of whatever bears its magic, a native ELF included. The magic registered
 * here lies in bytes of the ELF header that nothing uses, and only files of this test bear it.
 */
const MOUNT = '/proc/sys/fs/binfmt_misc';
const NAME = 'command-receipts-test';
const MAGIC = 'RcptTst';
const MAGIC_OFFSET = 9;

function quietly(...argv: [string, ...string[]]): boolean {
  try {
    execFileSync(argv[0], argv.slice(1), { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const wasMounted = existsSync(`${MOUNT}/register`);
const available = process.getuid?.() === 0 && (wasMounted || quietly('mount', '-t', 'binfmt_misc', 'none', MOUNT));

describe.skipIf(!available)('an interpreter put in front by binfmt_misc', () => {
  const root = workspace();
  beforeAll(() => {
    executable(root, 'interpreter', readFileSync('/usr/bin/yes'));
    writeFileSync(`${MOUNT}/register`, `:${NAME}:M:${MAGIC_OFFSET}:${MAGIC}::${root}/interpreter:`);
  });
  afterAll(() => {
    writeFileSync(`${MOUNT}/${NAME}`, '-1');
    if (!wasMounted) quietly('umount', MOUNT);
  });

  test('is seen in /proc/<pid>/exe and ended', async () => {
    const marked = readFileSync('/bin/true');
    marked.write(MAGIC, MAGIC_OFFSET, 'latin1');
    executable(root, 'marked', marked);
    const bound = await bind(['./marked'], { workspace: root });
    const rebound: string[] = [];
    const { flags } = await finishRun(bound, bound.start({ onRebound: (flag) => rebound.push(flag) }));
    bound.release();
    expect(flags).toEqual(['EXECUTABLE_REBOUND']);
    expect(rebound).toEqual(['EXECUTABLE_REBOUND']);
  });
});

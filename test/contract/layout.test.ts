import { describe, expect, it } from 'vitest';
import { bodyFile, isBodyFile, taskDirectoryName } from '../../src/contract/index.ts';

describe('the name of a task directory', () => {
  it.each(['../../etc', '', '.', '..', '.work', 'a/b', 'ci', '0197B2C4-D000-7000-8000-000000000001'])(
    '%j becomes no path',
    (id) => {
      expect(taskDirectoryName(id)).toMatch(/^t-[0-9a-f]{32}$/);
    },
  );

  it('is the id where that is a UUID', () => {
    expect(taskDirectoryName('0197b2c4-d000-7000-8000-000000000001')).toBe('0197b2c4-d000-7000-8000-000000000001');
  });

  it('is what docs/format.md §4.1 says', () => {
    // printf 'command-receipts/task/v1\nci' | sha256sum | cut -c1-32
    expect(taskDirectoryName('ci')).toBe('t-8aebf2d4e93e5c18c6d8ca95cf4577e4');
  });
});

it('knows the files of output', () => {
  expect(bodyFile('stdout', 'whole')).toBe('stdout.txt');
  expect(bodyFile('stderr', 'tail')).toBe('stderr.tail.txt');
  for (const name of ['stdout.txt', 'stderr.head.txt']) expect(isBodyFile(name)).toBe(true);
  for (const name of ['stdin.txt', 'stdout', 'stdout.body.txt', 'xstdout.txt']) expect(isBodyFile(name)).toBe(false);
});

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bindFailure, executable, linux, portable, run, workspace } from './harness.ts';

function tree(): string {
  const root = workspace();
  for (const directory of ['one', 'two', 'directory/tool', 'plain', 'sub'])
    mkdirSync(join(root, directory), { recursive: true });
  for (const directory of ['one', 'two'])
    executable(join(root, directory), 'tool', `#!/bin/sh\necho ${directory} "$0"\n`);
  executable(root, 'tool', '#!/bin/sh\necho here "$0"\n');
  writeFileSync(join(root, 'plain/tool'), '#!/bin/sh\n', { mode: 0o644 });
  symlinkSync('/nowhere', join(root, 'dangling'));
  return root;
}

describe.each([linux, portable])('$kind: names resolve as execvp would', (launcher) => {
  const root = tree();
  const options = { launcher, workspace: root };
  const withPath = (...entries: string[]) => ({
    ...options,
    environment: { PATH: [...entries, '/usr/bin', '/bin'].join(':') },
  });

  test('the first of PATH that may be executed', async () => {
    expect((await run(['tool'], withPath(`${root}/one`, `${root}/two`))).stdout).toMatch(/^one /);
    const passedOver = withPath(`${root}/none`, `${root}/plain`, `${root}/directory`, `${root}/two`);
    const { stdout, facts } = await run(['tool'], passedOver);
    expect(stdout).toMatch(/^two /);
    expect(facts.executable).toMatchObject({ requested: 'tool', path: `${root}/two/tool` });
  });

  test('relative and empty entries count from the directory of the command', async () => {
    expect((await run(['tool'], withPath('one'))).stdout).toMatch(/^one /);
    expect((await run(['tool'], { ...withPath('../two'), cwd: 'sub' })).stdout).toMatch(/^two /);
    expect((await run(['tool'], { ...options, environment: { PATH: `:/usr/bin` } })).stdout).toMatch(/^here /);
  });

  test('a name with a slash is not searched for', async () => {
    expect((await run(['./tool'], options)).stdout).toMatch(/^here /);
    expect((await run(['../one/tool'], { ...options, cwd: 'sub' })).stdout).toMatch(/^one /);
    expect((await run([`${root}/two/tool`], options)).stdout).toMatch(/^two /);
  });

  test('without PATH the system directories are searched', async () => {
    expect((await run(['true'], { ...options, environment: {} })).exit.exitCode).toBe(0);
  });

  test.each([
    ['no-such-program', 'PROGRAM_NOT_FOUND', 'ENOENT'],
    ['./none', 'PROGRAM_NOT_FOUND', 'ENOENT'],
    ['./dangling', 'PROGRAM_NOT_FOUND', 'ENOENT'],
    ['./plain/tool', 'PROGRAM_NOT_EXECUTABLE', 'EACCES'],
    ['./directory', 'PROGRAM_IS_DIRECTORY', 'EACCES'],
    ['/', 'PROGRAM_IS_DIRECTORY', 'EACCES'],
  ])('%s: %s', async (name, code, errno) => {
    const failure = await bindFailure([name], options);
    expect(failure).toMatchObject({ kind: 'start-failed', code, errno, executable: { requested: name } });
    expect(failure.cwd).toMatchObject({ resolved: root });
  });

  test('found in PATH, but only as what may not be executed', async () => {
    const failure = await bindFailure(['tool'], { ...options, environment: { PATH: `${root}/none:${root}/plain` } });
    expect(failure.code).toBe('PROGRAM_NOT_EXECUTABLE');
  });

  test('a vector that the kernel would misread is refused', async () => {
    for (const argv of [[], [''], ['tr\0ue'], ['true', 'a\0b']]) {
      expect(await bindFailure(argv, options)).toMatchObject({ kind: 'refused', code: 'ARGV_INVALID' });
    }
    const environment = { PATH: '/bin', A: 'b\0c' };
    expect((await bindFailure(['true'], { ...options, environment })).code).toBe('ARGV_INVALID');
  });
});

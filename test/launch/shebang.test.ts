import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEnvForm } from '../../src/launch/linux/script/env-form.ts';
import { parseShebang } from '../../src/launch/linux/script/shebang.ts';
import { executable, run, workspace } from './harness.ts';

describe('the first line, as the kernel reads it', () => {
  test.each<[string, string, string | undefined]>([
    ['#!/bin/sh\n', '/bin/sh', undefined],
    ['#! \t /bin/sh \t\n', '/bin/sh', undefined],
    ['#!/bin/sh -e  -u \nrest', '/bin/sh', '-e  -u'],
    ['#!/bin/sh', '/bin/sh', undefined],
    ['#!/bin/sh -e', '/bin/sh', '-e'],
    ['#!/bin/sh\r\n', '/bin/sh\r', undefined],
    ['#!/usr/bin/env node\r\n', '/usr/bin/env', 'node\r'],
    ['#!sh\n', 'sh', undefined],
    [`#!/${'x'.repeat(251)}\n`, `/${'x'.repeat(251)}`, undefined],
    [`#!/bin/sh ${'y'.repeat(400)}\n`, '/bin/sh', 'y'.repeat(245)],
  ])('%j', (text, interpreter, argument) => {
    const shebang = parseShebang(Buffer.from(text));
    expect([shebang?.interpreter, shebang?.argument]).toEqual([interpreter, argument]);
  });

  test.each([
    '',
    '#',
    '#!',
    '#!\n/bin/sh',
    '#! \t \n',
    'echo hi\n',
    ' #!/bin/sh\n',
    `#!/${'x'.repeat(300)}\n`,
    `#!${' '.repeat(300)}/bin/sh\n`,
  ])('%j has none', (text) => {
    expect(parseShebang(Buffer.from(text))).toBeUndefined();
  });

  test('any bytes are read without a throw, and nothing longer than the limit comes out', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const shebang = parseShebang(Buffer.concat([Buffer.from('#!'), bytes]));
        expect((shebang?.line ?? '').length).toBeLessThanOrEqual(254);
      }),
    );
  });

  test('what the script gets is what the kernel gives it', async () => {
    const root = workspace();
    const lines = fc.array(fc.constantFrom(' ', '\t', '-n', 'a b', 'ü', '"', "'", '\\', '$x', '\r'), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        lines,
        fc.constantFrom('\n', '', '\nrest\n'),
        fc.integer({ min: 0, max: 260 }),
        async (words, end, filler) => {
          const path = executable(root, 'script', `#! /bin/echo ${words.join('')} ${'z'.repeat(filler)}${end}`);
          const theirs = execFileSync(path, ['one', 'two']).toString();
          expect((await run([path, 'one', 'two'], { workspace: root })).stdout).toBe(theirs);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('the forms of env that are resolved here', () => {
  test.each<[string, unknown]>([
    ['node', { assignments: [], program: 'node', args: [] }],
    ['node\r', { assignments: [], program: 'node\r', args: [] }],
    ['-S node --flag  x', { assignments: [], program: 'node', args: ['--flag', 'x'] }],
    ['-Snode', { assignments: [], program: 'node', args: [] }],
    ['--split-string=node -a', { assignments: [], program: 'node', args: ['-a'] }],
    [
      '-S A=1 B=x=y prog z',
      {
        assignments: [
          ['A', '1'],
          ['B', 'x=y'],
        ],
        program: 'prog',
        args: ['z'],
      },
    ],
  ])('%j', (argument, form) => {
    expect(readEnvForm(argument)).toEqual(form);
  });

  test.each([
    undefined,
    '-i node',
    '-S -i node',
    '-S "a b"',
    `-S node ${'$'}{X}`,
    '-S node \\c',
    '-S A=1',
    '-S',
    'A=1',
    'A=1 node',
    '-vS node',
  ])('%j is left to env', (argument) => {
    expect(readEnvForm(argument)).toBeUndefined();
  });

  test.each(['-S printf [%s] a b', '-Sprintf [%s] x=1', '-S X=7 sh -e', 'basename', '--split-string=printf [%s]'])(
    '#!/usr/bin/env %s gives what env itself gives',
    async (argument) => {
      const root = workspace();
      const plain = argument.replaceAll(/[[\]]/g, '');
      const path = executable(root, 'script', `#!/usr/bin/env ${plain}\necho "$X|$0|$1"\n`);
      const theirs = execFileSync(path, ['argument'], { env: { PATH: '/usr/bin:/bin' } }).toString();
      const { stdout, facts } = await run([path, 'argument'], {
        workspace: root,
        environment: { PATH: '/usr/bin:/bin' },
      });
      expect(stdout).toBe(theirs);
      expect(facts.interpreters).toHaveLength(1);
      expect(facts.interpreters[0]?.path).not.toMatch(/env$/);
    },
  );
});

import { describe, expect, test } from 'vitest';
import { splitArguments } from '../../src/action/arguments.ts';
import { parseArgv } from '../../src/action/argv.ts';
import { codeCell, table } from '../../src/action/markdown.ts';
import { shellProgram } from '../../src/action/shell.ts';

describe('argv', () => {
  test.each([
    ['["npm", "run", "a b", ""]', ['npm', 'run', 'a b', '']],
    ['[npm, test]', ['npm', 'test']],
    ['- npm\n- 8080\n- no\n- 1.10\n- ~\n- "a: b"', ['npm', '8080', 'no', '1.10', '~', 'a: b']],
    ['- |-\n  two\n  lines', ['two\nlines']],
  ])('%j', async (text, argv) => {
    expect(await parseArgv(text)).toEqual(argv);
  });

  test.each(['npm test', '', '{}', '[]', '[1]', '["a", null]', '- a: b', '[["a"]]', '""', '- *x', '[""]', '[a'])(
    '%j is refused',
    async (text) => {
      await expect(parseArgv(text)).rejects.toMatchObject({ code: 'ARGV_INVALID' });
    },
  );
});

describe('shell', () => {
  const argsOf = (shell: string) => shellProgram('x', shell, { PATH: '/bin:/usr/bin' });

  test.each([
    ['bash', 'bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '{0}']],
    ['BASH', 'BASH', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '{0}']],
    ['sh', 'sh', ['-e', '{0}']],
    ['python', 'python', ['{0}']],
    ['perl {0}', 'perl', ['{0}']],
    ['bash   -e {0}', 'bash', ['-e', '{0}']],
    ['env -S "a b" {0} --{{x}}', 'env', ['-S', 'a b', '{0}', '--{x}']],
  ])('%j', (shell, name, args) => {
    expect(argsOf(shell)).toMatchObject({ shell: name, args, text: 'x' });
  });

  test('pwsh stops at errors and ends with the code of the last program', () => {
    const { text, args } = argsOf('pwsh');
    expect(text).toMatch(/^\$ErrorActionPreference = 'stop'\nx\nif .*exit \$LASTEXITCODE \}$/);
    expect(args[0]).toBe('-command');
  });

  test.each(['fish', 'bash -e', 'perl {1}', 'perl {0} {', 'perl {{0}}', 'cmd'])('%j is refused', (shell) => {
    expect(() => argsOf(shell)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});

test.each([
  ['', []],
  [' a  b\tc ', ['a', 'b', 'c']],
  ['"a b"c d"e"', ['a bc', 'de']],
  ['"a""b"', ['a"b']],
  ['a\\b "c\\\\" \\"d', ['a\\b', 'c\\', '"d']],
  ['"" x', ['', 'x']],
  ['"open end', ['open end']],
])('a command line splits as in .NET: %j', (line, list) => {
  expect(splitArguments(line)).toEqual(list);
});

describe('cells of a table', () => {
  test.each(['|', '`', '<b>', '**a**', '[a](b)', '@user', 'http://x.example', '\\|', '&lt;', '#1', '~~a~~', '_a_'])(
    '%j is text',
    (text) => {
      expect(codeCell(text)).toMatch(/^<code>[\w &#;]*<\/code>$/);
    },
  );

  test('lines, control characters and turned writing do not get through', () => {
    expect(codeCell('a\n\r\n b\u0007\u202e\u2028c')).toBe('<code>a b\ufffd\ufffd c</code>');
    expect(codeCell('x'.repeat(500))).toHaveLength('<code></code>'.length + 160);
    expect(codeCell('😀'.repeat(500)).endsWith('😀…</code>')).toBe(true);
  });

  test('a table has one line per row', () => {
    expect(table(['A', 'B'], [['1', '2']])).toBe('| A | B |\n| --- | --- |\n| 1 | 2 |\n\n');
  });
});

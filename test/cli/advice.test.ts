import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';

/** As our messages introduce a command: `Close it with: receipts close x`, `run: receipts recover`, or in ticks. */
const ADVICE = /(?:(?:with|[Rr]un|Write|or|one|receipt): |[`'"])receipts ([a-z]+)/g;

const source = fileURLToPath(new URL('../../src', import.meta.url));

it('every command of ours that a message advises exists', () => {
  const program = new Command().enablePositionalOptions();
  for (const add of COMMANDS) add(program, { protection: undefined, exitWith: () => {} });
  const known = program.commands.map((command) => command.name());
  const advised = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const text = readFileSync(join(source, name), 'utf8');
      return [...text.matchAll(ADVICE)].map(([, word = '']) => word);
    });
  expect(advised.length).toBeGreaterThan(10);
  expect([...new Set(advised)].filter((word) => !known.includes(word))).toEqual([]);
});

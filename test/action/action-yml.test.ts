import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface Metadata {
  readonly inputs: Record<string, { description: string; default?: string; required?: boolean }>;
  readonly outputs: Record<string, { description: string }>;
  readonly runs: Record<string, string>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const { inputs, outputs, runs } = parse(readFileSync(`${root}/action.yml`, 'utf8')) as Metadata;
const source = readdirSync(`${root}/src/action`)
  .map((name) => readFileSync(`${root}/src/action/${name}`, 'utf8'))
  .join('\n');

test('the inputs that are declared are those that are read', () => {
  const read = [...source.matchAll(/fields\.(?:raw|text|optional|lines|flag|label)\('([a-z-]+)'/g)].map(
    ([, name]) => name,
  );
  expect([...new Set([...read, 'secrets'])].sort()).toEqual(Object.keys(inputs).sort());
});

test('the outputs that are declared are those that are set', () => {
  const set = [...source.matchAll(/^ {4}'?([a-z-]+)'?(?:: |,$)/gm)].map(([, name]) => name);
  for (const name of Object.keys(outputs)) expect(set).toContain(name);
});

test('everything is described, and nothing is required', () => {
  for (const { description } of [...Object.values(inputs), ...Object.values(outputs)]) expect(description).not.toBe('');
  expect(Object.values(inputs).some(({ required }) => required)).toBe(false);
});

test('the post step runs whatever happened', () => {
  expect(runs).toEqual({ using: 'node24', main: 'dist/index.js', post: 'dist/post.js', 'post-if': 'always()' });
});

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createRedactor } from '../../src/redact/index.ts';

const FILE = new URL('../vectors/redact/ordinary-output.json', import.meta.url);
const [vector] = JSON.parse(readFileSync(FILE, 'utf8')) as {
  readonly inputs: ReadonlyArray<{ readonly utf8: string }>;
}[];
const lines = vector?.inputs.map((input) => input.utf8) ?? [];

it('no line that ordinary tools print is changed on its own', () => {
  const redactor = createRedactor();
  expect(lines.length).toBeGreaterThan(300);
  expect(lines.map((line) => redactor.text(line)).filter((line, index) => line !== lines[index])).toEqual([]);
});

import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/contract/document.ts';
import { ReceiptsError } from '../../src/contract/errors.ts';
import { Closed, Count, Text } from '../../src/contract/schema/primitives.ts';

const Shape = Closed({
  version: Type.Literal(1),
  rules: Type.Optional(Type.Array(Closed({ id: Text, limit: Type.Optional(Count) }))),
});
const read = (text: string) => parseDocument(Shape, text, 'policy.yml', 'POLICY_INVALID');

function refused(text: string): ReceiptsError {
  try {
    read(text);
  } catch (error) {
    if (error instanceof ReceiptsError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

describe('a document', () => {
  it('is read as its schema has it', () => {
    expect(read('# a comment\nversion: 1\nrules:\n  - id: a # another\n    limit: 0x10\n  - {id: "b"}\n')).toEqual({
      version: 1,
      rules: [{ id: 'a', limit: 16 }, { id: 'b' }],
    });
  });

  it.each([
    ['another value', 'version: 2\n', '1:10'],
    ['a value of another type, deeper', 'version: 1\nrules:\n  - id: a\n    limit: many\n', '4:12'],
    ['a missing member', 'version: 1\nrules:\n  - limit: 1\n', '3:5'],
    ['an unknown key', 'version: 1\nruels: []\n', '2:1'],
    ['a duplicate key', 'version: 1\nversion: 1\n', '2:1'],
    ['an alias', 'version: 1\nrules: [{id: &a x}, {id: *a}]\n', '2:17'],
    ['an anchor', 'version: &v 1\n', '1:13'],
    ['a merge key', 'version: 1\n<<: {rules: []}\n', '2:1'],
    ['a tag', 'version: 1\nrules: !mine []\n', '2:8'],
    ['a second document', 'version: 1\n---\nversion: 1\n', '2:1'],
    ['a key that is no string', 'version: 1\n2: x\n', '2:1'],
    ['a key that is a list', 'version: 1\n? [a]\n: x\n', '2:3'],
    ['a key of objects', 'version: 1\n__proto__: {rules: []}\n', '2:1'],
    ['a tab', 'version: 1\nrules:\n\t- id: a\n', '3:1'],
    ['an open bracket', 'version: 1\nrules: [\n', '3:1'],
    ['nothing', '', '1:1'],
    ['a list', '- 1\n', '1:1'],
  ])('with %s is refused where it is', (_name, text, place) => {
    const error = refused(text);
    expect(error.code).toBe('POLICY_INVALID');
    expect(error.where).toBe(`policy.yml:${place}`);
    expect(error.message.startsWith(place)).toBe(true);
    expect(error.next).toBeTruthy();
  });

  it('names all of its faults in their order', () => {
    expect(refused('more: 1\nversion: 3\nrules:\n  - id: 1\n').message).toBe(
      '1:1 /more is not a member of this format; 2:10 /version must be 1; 4:9 /rules/0/id must be string',
    );
  });

  it.each([
    ['nesting', `version: ${'['.repeat(50_000)}`],
    ['nesting that ends', `version: ${'['.repeat(500)}${']'.repeat(500)}`],
    [
      'aliases of aliases',
      `a: &a [x,x]\n${Array.from({ length: 20 }, (_, n) => `k${n}: &b${n} [*a,*a,*a]`).join('\n')}\n`,
    ],
    ['size', `version: 1\n# ${'x'.repeat(2_000_000)}`],
    ['a thousand faults', Array.from({ length: 1000 }, (_, n) => `k${n}: 1`).join('\n')],
  ])('made to exhaust the reader by %s is refused', (_name, text) => {
    const error = refused(text);
    expect(error.code).toBe('POLICY_INVALID');
    expect(error.message.length).toBeLessThan(2000);
  });
});

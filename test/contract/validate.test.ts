import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { Command } from '../../src/contract/schema/launch.ts';
import { EndedTermination } from '../../src/contract/schema/outcome.ts';
import { Closed, Count, Nullable, OneOf, Text } from '../../src/contract/schema/primitives.ts';
import { Context } from '../../src/contract/schema/receipt.ts';
import { fieldErrors, fits, pointerTo } from '../../src/contract/validate.ts';

const list = (schema: Parameters<typeof fieldErrors>[0], value: unknown) =>
  fieldErrors(schema, value).map(({ pointer, message }) => `${pointer} ${message}`);

const Shape = Closed({
  name: Text,
  size: Nullable(Count),
  mode: OneOf(['a', 'b'] as const),
  version: Type.Literal(1),
  items: Type.Array(Closed({ id: Text }), { minItems: 1 }),
  note: Type.Optional(Text),
});
const right = { name: 'x', size: 1, mode: 'a', version: 1, items: [{ id: 'y' }] };

describe('field errors', () => {
  it('are none for what fits', () => {
    expect(fieldErrors(Shape, right)).toEqual([]);
    expect(fits(Shape, { ...right, size: null, note: '' })).toBe(true);
  });

  it.each([
    ['a missing member', { ...right, name: undefined }, ['/name must be string']],
    ['an absent member', { size: 1, mode: 'a', version: 1, items: [{ id: 'y' }] }, ['/name is missing']],
    ['an unknown member', { ...right, other: 1 }, ['/other is not a member of this format']],
    ['a name that has to be escaped', { ...right, 'a/b~c': 1 }, ['/a~1b~0c is not a member of this format']],
    ['a name that objects have', { ...right, __proto__x: 1 }, ['/__proto__x is not a member of this format']],
    ['another type', { ...right, name: 1 }, ['/name must be string']],
    ['neither of two types', { ...right, size: 'x' }, ['/size must be integer or null']],
    ['the right type of two, out of range', { ...right, size: -1 }, ['/size must be >= 0']],
    ['none of a list', { ...right, mode: 'c' }, ['/mode must be "a" or "b"']],
    ['another literal', { ...right, version: 2 }, ['/version must be 1']],
    ['too few items', { ...right, items: [] }, ['/items must not have fewer than 1 items']],
    ['a fault in an item', { ...right, items: [{ id: 'y' }, { id: 1 }] }, ['/items/1/id must be string']],
    ['no object', [], [' must be object']],
    ['null', null, [' must be object']],
    [
      'several faults',
      { ...right, name: 1, mode: 2, more: 3 },
      ['/name must be string', '/mode must be "a" or "b"', '/more is not a member of this format'],
    ],
  ])('name the field of %s, once', (_name, value, expected) => {
    expect(list(Shape, value)).toEqual(expected);
  });

  it('are at most fifty', () => {
    const items = Array.from({ length: 10_000 }, () => ({ id: 1 }));
    expect(fieldErrors(Shape, { ...right, items })).toHaveLength(50);
  });
});

describe('field errors of a union', () => {
  it.each([
    [EndedTermination, { kind: 'exited', exitCode: 'x', signal: null }, ['/exitCode must be integer']],
    [EndedTermination, { kind: 'exited', exitCode: 0, signal: 'SIGKILL' }, ['/signal must be null']],
    [
      EndedTermination,
      { kind: 'signaled', exitCode: null, signal: 'KILL', coreDumped: false },
      ['/signal must match pattern "^SIG[A-Z0-9+-]{1,12}$"'],
    ],
    [EndedTermination, { kind: 'gone' }, ['/kind must be "exited" or "signaled" or "timed-out" or "unknown"']],
    [EndedTermination, {}, ['/kind is missing']],
    [EndedTermination, 'exited', [' must be object']],
    [
      Command,
      { mode: 'shell', requested: [] },
      ['/shell is missing', '/argvDigest is missing', '/requested is not a member of this format'],
    ],
    [Context, { kind: 'local', runId: '1' }, ['/runId is not a member of this format']],
    [Type.Union([Type.Literal('x'), Type.Literal('y')]), 'z', [' must be "x" or "y"']],
    [Type.Union([Closed({ a: Text }), Closed({ a: Text, b: Text })]), { a: 1, b: 'x' }, ['/a must be string']],
  ])('report the variant that is meant: %#', (schema, value, expected) => {
    expect(list(schema, value)).toEqual(expected);
  });
});

it('pointers escape their segments (RFC 6901)', () => {
  expect(pointerTo(pointerTo('', 'a/b~c'), 0)).toBe('/a~1b~0c/0');
});

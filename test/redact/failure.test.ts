import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/redact/index.ts';
import type { TokenRule } from '../../src/redact/types.ts';

const SECRET = `syn_${'x'.repeat(8)}`;

function streamWith(change: Partial<TokenRule>) {
  const rule: TokenRule = {
    kind: 'token',
    id: 'synthetic',
    anchors: ['syn_'],
    charset: 'a-z',
    minimum: 8,
    example: [SECRET],
    ...change,
  };
  return createRedactor({ ruleset: { id: 'test', version: '1', rules: [rule] } }).stream();
}

function failureOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('a rule that throws', () => {
  const verify = () => {
    throw new Error(`saw ${SECRET}`);
  };

  it('fails the stream, names the rule and shows no byte of the stream', () => {
    const error = failureOf(() => streamWith({ verify }).push(Buffer.from(`a ${SECRET} b`)));
    expect(error).toMatchObject({ code: 'REDACTION_FAILED', where: 'synthetic' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(SECRET);
    expect((error as Error).cause).toBeUndefined();
  });

  it('lets nothing more out of the stream', () => {
    const stream = streamWith({ verify });
    failureOf(() => stream.push(Buffer.from(SECRET)));
    expect(() => stream.push(Buffer.from('later'))).toThrow(expect.objectContaining({ code: 'REDACTION_FAILED' }));
    expect(() => stream.end()).toThrow(expect.objectContaining({ code: 'REDACTION_FAILED' }));
  });

  it('fails at the end as well', () => {
    const stream = streamWith({ verify, shape: 'segments', charset: 'a-z.', example: [SECRET, '.'] });
    stream.push(Buffer.from(`${SECRET}`));
    expect(() => stream.push(Buffer.from('.'))).toThrow(expect.objectContaining({ where: 'synthetic' }));
  });
});

it('a rule beyond its step budget fails the stream', () => {
  const stream = streamWith({ budget: 60, shape: 'segments', charset: 'a-z.', example: [SECRET, '.'] });
  const error = failureOf(() => stream.push(Buffer.from(`syn_${'x'.repeat(200)}`)));
  expect(error).toMatchObject({ code: 'REDACTION_FAILED', where: 'synthetic' });
});

it('a hook that answers false lets the text pass', () => {
  const stream = streamWith({ verify: () => false });
  const bytes = [stream.push(Buffer.from(`a ${SECRET} b`)), stream.end()].map((chunk) => Buffer.from(chunk.bytes));
  expect(Buffer.concat(bytes).toString()).toBe(`a ${SECRET} b`);
});

it('an ended stream takes nothing more', () => {
  const stream = createRedactor().stream();
  stream.end();
  expect(() => stream.push(Buffer.from('x'))).toThrow(expect.objectContaining({ code: 'REDACTION_FAILED' }));
});

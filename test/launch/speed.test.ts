import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { bind, finishRun } from './harness.ts';

const ROUNDS = 300;

function p50(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** Prints the ratio and judges nothing by the clock: the proof command does, on the built bundle. */
test(`request to exec against child_process.spawn, ${ROUNDS} launches each, in turn`, async () => {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = performance.now();
    const bound = await bind(['/bin/true']);
    const running = bound.start({});
    ours.push(performance.now() - before);
    expect(bound.facts.executable.binding.method).toBe('lease');
    await finishRun(bound, running);
    bound.release();
    const then = performance.now();
    const child = spawn('/bin/true', [], { stdio: ['inherit', 'pipe', 'pipe'] });
    theirs.push(performance.now() - then);
    await new Promise((resolve) => child.on('close', resolve));
  }
  const figures = { oursMs: p50(ours), theirsMs: p50(theirs), ratio: p50(ours) / p50(theirs) };
  console.log(JSON.stringify({ name: 'request-to-exec', figures }));
});

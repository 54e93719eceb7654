import { closeSync, constants, copyFileSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bind, executable, linux, type Options, portable, request, run, until, workspace } from './harness.ts';

function descriptors(): string[] {
  return readdirSync('/proc/self/fd');
}
function threads(): number {
  return readdirSync('/proc/self/task').length;
}

const ROUNDS = 300;

describe.each([linux, portable])('$kind: nothing stays open', (launcher) => {
  const root = workspace();
  executable(root, 'script', '#!/usr/bin/env sh\nexit 0\n');
  executable(root, 'broken', '#!/no/interpreter\n');
  executable(root, 'emptied', '#!/bin/sh\n');
  const shell = { mode: 'shell', shell: 'sh', args: ['{0}'], text: 'exit 0' } as const;
  const options: Options = { launcher, workspace: root };
  const always = launcher.kind === 'linux' ? (['lease', 'cas-lease', 'memfd', 'none'] as const) : (['none'] as const);

  async function round(index: number): Promise<void> {
    const order = [always[index % always.length] ?? 'none'];
    const scripts = ['lease', 'none'] as const;
    switch (index % 6) {
      case 0:
        await run(['true'], { ...options, order });
        return;
      case 1:
        await run(['./script'], { ...options, order: scripts });
        return;
      case 2:
        await run(shell, { ...options, order });
        return;
      case 3:
        for (const argv of [['no-such'], ['./broken'], ['/'], ['']]) await launcher.bind(request(argv, options));
        await launcher.bind(request(['true'], { ...options, cwd: 'none' }));
        await launcher.bind(request(['true'], { ...options, order: ['fs-verity'] }));
        return;
      case 4:
        (await bind(['true'], { ...options, order: [...order, 'none'] })).release();
        return;
      default:
        await startThatFails(options);
    }
  }

  test(`over ${ROUNDS} launches, failed ones included: descriptors and threads`, async () => {
    for (let index = 0; index < 24; index++) await round(index);
    await until(() => true);
    const before = descriptors();
    const threadsBefore = threads();
    for (let index = 0; index < ROUNDS; index++) await round(index);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(descriptors()).toEqual(before);
    expect(threads()).toBe(threadsBefore);
  });
});

async function startThatFails(options: Options): Promise<void> {
  const bound = await bind(['true', 'x'.repeat(200_000)], options);
  expect(() => bound.start({})).toThrow();
  bound.release();
  if (options.launcher?.kind !== 'linux' || !options.workspace) return;
  const program = join(options.workspace, 'program');
  copyFileSync('/bin/true', program);
  const changed = await bind([program], options);
  closeSync(openSync(program, constants.O_RDONLY | constants.O_TRUNC));
  expect(() => changed.start({})).toThrow();
  changed.release();
}

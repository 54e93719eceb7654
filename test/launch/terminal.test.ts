import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { driverPath } from './driver.ts';
import { FIXTURES, request, workspace } from './harness.ts';

const PYTHON = '/usr/bin/python3';

async function onTerminal(argv: readonly string[], steps: readonly string[]): Promise<string[]> {
  const order = { request: request(argv, { workspace: workspace() }), passThrough: true };
  const child = spawn(PYTHON, [join(FIXTURES, 'terminal.py'), process.execPath, await driverPath()], {
    env: { PATH: '/usr/bin:/bin', DRIVER_ORDER: JSON.stringify(order) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(steps.map((step) => `${step}\n`).join(''));
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString();
  });
  await new Promise((resolve) => child.on('close', resolve));
  return output.trimEnd().split('\n');
}

describe.skipIf(!existsSync(PYTHON))('at a terminal', () => {
  test('the command reads it as the foreground group, and we have it back afterwards', async () => {
    const results = await onTerminal(
      ['sh', '-c', 'echo ready; read line; echo "got $line"'],
      ['expect ready', 'foreground', 'type hello\\n', 'expect got hello', 'expect "exitCode":0'],
    );
    expect(results).toEqual(['seen', '0', 'seen', 'seen', '0']);
  });

  test('Ctrl-C reaches the command alone, and its receipt can still be made', async () => {
    const program = 'import signal, time; signal.signal(2, signal.SIG_DFL); print("ready", flush=True); time.sleep(20)';
    const results = await onTerminal(
      [PYTHON, '-c', program],
      ['expect ready', 'type \\x03', 'expect "signal":"SIGINT"'],
    );
    expect(results).toEqual(['seen', 'seen', '0']);
  });

  test('Ctrl-Z stops us with it, and both go on together', async () => {
    const results = await onTerminal(
      ['sh', '-c', 'echo ready; read line; echo "got $line"'],
      ['expect ready', 'type \\x1a', 'state', 'foreground', 'continue', 'type on\\n', 'expect got on'],
    );
    expect(results).toEqual(['seen', 'T', '1', 'seen', '0']);
  });
});

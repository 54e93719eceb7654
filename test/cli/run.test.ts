import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, filesBelow, place } from './receipts.ts';

describe('receipts run', () => {
  it('keeps output, order of streams and exit code, and verifies with four verdicts', () => {
    const here = place();
    const { status, stdout, stderr } = here.receipts(['run', '-q', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3']);
    expect([status, stdout, stderr]).toEqual([3, 'out\n', 'err\n']);
    const { code, verification } = here.verify();
    expect(code).toBe(0);
    const receipt = verification.chains[0]?.receipts[0];
    expect(receipt?.verdicts).toEqual({ integrity: 'pass', signer: 'pass', completeness: 'pass', policy: 'pass' });
    expect(receipt?.facts?.termination).toEqual({ kind: 'exited', exitCode: 3, signal: null });
    expect(
      readFileSync(
        join(verification.chains[0]?.path ?? '', 'receipts', receipt?.receiptId ?? '', 'stdout.txt'),
        'utf8',
      ),
    ).toBe('out\n');
  });

  it.runIf(process.platform === 'linux')('finds its native part in the bundle, and binds', () => {
    const { receipt } = place().run(['--', 'true']);
    expect(receipt.executor.launcher).toBe('linux');
    expect(receipt.executor.distDigest).toMatch(/^sha256:/);
    expect(receipt.executable.binding.method).not.toBe('none');
    expect(receipt.cwd.method).toBe('openat2');
  });

  it('says that a command was killed, with 128+n', () => {
    const here = place();
    const { code, receipt } = here.run(['--', 'sh', '-c', 'kill -9 $$']);
    expect(code).toBe(137);
    expect(receipt.termination).toMatchObject({ kind: 'signaled', signal: 'SIGKILL', exitCode: null });
    expect(here.verify().code).toBe(0);
  });

  it('records both moments of a timeout', () => {
    const here = place();
    const { code, receipt } = here.run([
      '--timeout',
      '300ms',
      '--kill-after',
      '200ms',
      '--',
      'sh',
      '-c',
      'trap "" TERM; while :; do sleep 0.05; done',
    ]);
    expect(code).toBe(124);
    expect(receipt.termination).toMatchObject({
      kind: 'timed-out',
      signal: 'SIGKILL',
      timeout: { limitNs: '300000000' },
    });
    const { timeout } = receipt.termination as { timeout: { termSentNs: string; killSentNs: string } };
    expect(BigInt(timeout.killSentNs) - BigInt(timeout.termSentNs)).toBeGreaterThanOrEqual(200_000_000n);
    expect(here.verify().code).toBe(0);
  });

  it('runs a shell text as one text', () => {
    const here = place();
    const { code, stderr, receipt } = here.run(['--shell', 'printf "a\\nb\\n" | wc -l']);
    expect([code, stderr.trim()]).toEqual([0, '2']);
    expect(receipt.command).toMatchObject({
      mode: 'shell',
      shell: { executable: 'sh', args: ['{0}'], scriptBytes: 23 },
    });
    expect(JSON.stringify(receipt)).not.toContain('printf');
    expect(receipt.script?.mode).toBe('sealed');
    expect(here.verify().code).toBe(0);
  });

  it('pins a script and its interpreter as two identities', () => {
    const here = place();
    const script = join(here.directory, 'tool');
    writeFileSync(
      script,
      '#!/usr/bin/env node\nconsole.log(process.argv[2], require("path").basename(process.argv[1]))\n',
    );
    chmodSync(script, 0o755);
    const { code, stderr, receipt } = here.run(['--', './tool', 'x']);
    expect([code, stderr]).toEqual([0, 'x tool\n']);
    expect(receipt.executable).toMatchObject({ requested: './tool', kind: 'script', path: script });
    expect(receipt.interpreters.at(-1)?.kind).toBe('elf');
    expect(receipt.interpreters.at(-1)?.path).toMatch(/node/);
    expect(here.verify().code).toBe(0);
  });

  it('passes stdin on', () => {
    const here = place();
    expect(here.receipts(['run', '-q', '--', 'cat'], { input: 'from stdin' }).stdout).toBe('from stdin');
  });

  it('lets SIGPIPE reach the command when nobody reads any more', () => {
    const here = place();
    const output = execFileSync('sh', ['-c', `"${process.execPath}" "${CLI}" run -q -- yes | head -n 2`], {
      cwd: here.directory,
      env: here.environment,
      encoding: 'utf8',
    });
    expect(output).toBe('y\ny\n');
    const receipt = here.verify().verification.chains[0]?.receipts[0];
    expect(receipt?.facts?.termination).toMatchObject({ kind: 'signaled', signal: 'SIGPIPE' });
    expect(receipt?.facts?.streams?.stdout?.closed).toBe('consumer-closed');
  });

  it('does not wait for a background process that holds the output, and names it', () => {
    const here = place();
    const { code, receipt } = here.run(['--grace', '300ms', '--', 'sh', '-c', 'sleep 4 & echo started']);
    expect(code).toBe(0);
    expect(receipt.streams.stdout).toMatchObject({
      closed: 'grace-expired',
      holders: [{ comm: 'sleep' }],
      observedBytes: 8,
    });
    expect(here.verify().code).toBe(0);
  });

  it('passes SIGTERM on and seals the receipt', async () => {
    const here = place();
    const child = spawn(
      process.execPath,
      [CLI, 'run', '-q', '--', 'sh', '-c', 'trap "echo caught; exit 7" TERM; echo ready; while :; do sleep 0.05; done'],
      {
        cwd: here.directory,
        env: here.environment,
      },
    );
    child.stdout.once('data', () => child.kill('SIGTERM'));
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).toBe(7);
    expect(here.verify().code).toBe(0);
  });

  it('keeps a named task open until it is closed, and closed is final', () => {
    const here = place();
    for (const step of ['build', 'test'])
      expect(here.receipts(['run', '-q', '--task', 'ci', '--step', step, '--', 'true']).status).toBe(0);
    expect(here.verify().verification.chains[0]?.problems.map(({ code }) => code)).toEqual(['CHAIN_OPEN']);
    expect(here.receipts(['close', 'ci']).status).toBe(0);
    expect(here.verify().code).toBe(0);
    const late = here.receipts(['run', '--task', 'ci', '--', 'sh', '-c', 'touch launched']);
    expect([late.status, late.stderr]).toEqual([125, expect.stringContaining('TASK_CLOSED')]);
    expect(existsSync(join(here.directory, 'launched'))).toBe(false);
  });

  it('runs in the directory that was opened, below the workspace', () => {
    const here = place();
    mkdirSync(join(here.directory, 'sub'));
    symlinkSync('sub', join(here.directory, 'link'));
    const { stderr, receipt } = here.run(['--cwd', 'link', '--', 'sh', '-c', 'pwd; stat -c %d:%i .']);
    expect(stderr.split('\n')[0]).toBe(join(here.directory, 'sub'));
    expect(receipt.cwd).toMatchObject({ requested: 'link', resolved: join(here.directory, 'sub'), method: 'openat2' });
    expect(stderr.split('\n')[1]).toBe(`${receipt.cwd.device}:${receipt.cwd.inode}`);
  });

  it('never prints or stores a token that came in two writes with a pause between', () => {
    const here = place();
    const [one, two] = [`ghp_${'a1B2c3D4e5F6'.slice(0, 10)}`, 'a1B2c3D4e5F6g7H8i9J0k1L2m3'];
    const { stdout, stderr } = here.receipts([
      'run',
      '--',
      'sh',
      '-c',
      'printf %s "$1"; sleep 0.2; printf "%s\\n" "$2"',
      'sh',
      one,
      two,
    ]);
    expect(stdout).toContain('[REDACTED:');
    for (const text of [stdout, stderr]) expect(text).not.toContain(one + two);
    for (const { path, bytes } of filesBelow(here.directory)) expect(bytes.includes(one + two), path).toBe(false);
  });

  it('masks the values of variables that are named like secrets, in argv and output', () => {
    const here = place();
    const secret = 'correct-horse-battery';
    const { stderr, receipt } = here.run(['--', 'sh', '-c', 'echo "$DEPLOY_TOKEN $1"', 'sh', secret], {
      env: { DEPLOY_TOKEN: secret },
    });
    expect(stderr).not.toContain(secret);
    expect(JSON.stringify(receipt)).not.toContain(secret);
    expect(receipt.environment.passed).toContainEqual({ name: 'DEPLOY_TOKEN', class: 'secret' });
    for (const { path, bytes } of filesBelow(join(here.directory, '.receipts')))
      expect(bytes.includes(secret), path).toBe(false);
  });

  it('cuts output with exact counts and keeps its end', () => {
    const here = place();
    writeFileSync(join(here.directory, 'policy.yml'), 'version: 1\noutput: { head: 1KiB, tail: 1KiB }\n');
    const { receipt } = here.run([
      '--policy',
      'policy.yml',
      '--',
      'sh',
      '-c',
      'yes 0123456789abcde | head -c 1000000; echo; echo the error',
    ]);
    const stream = receipt.streams.stdout;
    expect(stream).toMatchObject({ observedBytes: 1_000_011, truncation: { reason: 'quota' } });
    expect((stream?.retainedBytes ?? 0) + (stream?.droppedBytes ?? 0)).toBe(stream?.redactedBytes);
    const show = here.receipts(['show', receipt.receiptId, '--output', 'stdout']);
    expect(show.stdout.endsWith('the error\n')).toBe(true);
    expect(here.verify().code).toBe(0);
  });

  it.each([1_100_000, 3_900_000, 4_194_304, 4_194_305, 4_200_000, 4_300_000])('keeps the right bytes of %i', (size) => {
    const here = place();
    const script = `const b = Buffer.from(Uint8Array.from({ length: ${size} }, (_, i) => 32 + ((i * 31 + (i >> 9)) % 90)));
      for (let at = 0; at < b.length; at += 40_000) require('fs').writeSync(1, b.subarray(at, at + 40_000));`;
    const { receipt } = here.run(['--', process.execPath, '-e', script]);
    const all = Buffer.from(Uint8Array.from({ length: size }, (_, i) => 32 + ((i * 31 + (i >> 9)) % 90)));
    const { retained, droppedBytes } = receipt.streams.stdout ?? expect.unreachable();
    const kept = here.receipts(['show', receipt.receiptId, '--output', 'stdout']).stdout;
    const expected = Buffer.concat([
      all.subarray(0, retained.head.length),
      all.subarray(all.length - retained.tail.length),
    ]).toString('latin1');
    expect(kept === expected).toBe(true);
    expect(droppedBytes).toBe(Math.max(0, size - 4_194_304));
    expect(here.verify().code).toBe(0);
  });

  it('uses the portable launcher where it is told to, and says that nothing was bound', () => {
    const here = place();
    const { code, receipt } = here.run(['--', 'sh', '-c', 'exit 4'], {
      env: { COMMAND_RECEIPTS_LAUNCHER: 'portable' },
    });
    expect(code).toBe(4);
    expect(receipt.evidence.flags).toEqual(expect.arrayContaining(['UNBOUND_CWD', 'UNBOUND_EXECUTABLE']));
    expect(receipt.executor.launcher).toBe('portable');
    const { code: verified, verification } = here.verify();
    expect(verified).toBe(1);
    expect(verification.chains[0]?.receipts[0]?.problems.map((problem) => problem.code)).toContain(
      'UNBOUND_EXECUTABLE',
    );
  });
});

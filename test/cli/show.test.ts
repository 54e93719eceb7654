import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { place } from './receipts.ts';

/** A place with one receipt, and the path of a file beside it. */
function printed(script: string, options: readonly string[] = []) {
  const here = place();
  writeFileSync(join(here.directory, 'small.yml'), 'version: 1\noutput: { head: 1KiB, tail: 1KiB }\n');
  const { receipt, taskDirectory } = here.run([...options, '--', 'sh', '-c', script]);
  const show = (...args: string[]) => {
    const { status, stdout, stderr } = here.receipts(['show', receipt.receiptId, ...args]);
    return { status, stdout, stderr };
  };
  const beside = (name: string) => join(taskDirectory, 'receipts', receipt.receiptId, name);
  return { here, receipt, show, beside };
}

describe('stored output', () => {
  it('is printed byte for byte where it verifies', () => {
    const { show } = printed('printf "a\\n\\033[1m\\0b"; printf err >&2');
    expect(show('--output', 'stdout')).toEqual({ status: 0, stdout: 'a\n\u001b[1m\0b', stderr: '' });
    expect(show('--output', 'stderr')).toEqual({ status: 0, stdout: 'err', stderr: '' });
  });

  it('of which something was dropped says how much, where it was', () => {
    const { show, receipt } = printed('yes 0123456789abcde | head -c 100000; echo; echo the end', [
      '--policy',
      'small.yml',
    ]);
    const dropped = receipt.streams.stdout?.droppedBytes ?? 0;
    expect(dropped).toBeGreaterThan(90_000);
    const { status, stdout, stderr } = show('--output', 'stdout');
    expect([status, stderr.trim()]).toEqual([0, `receipts: … ${dropped} bytes were dropped here …`]);
    expect(stdout).toHaveLength(receipt.streams.stdout?.retainedBytes ?? 0);
    expect(stdout).toMatch(/\nthe end\n$/);
  });

  it.each([
    ['a link in its place', (path: string) => symlinkSync('/etc/hostname', path), 'UNEXPECTED_FILE', ''],
    ['other bytes in its place', (path: string) => writeFileSync(path, 'jello\n'), 'OUTPUT_DIGEST', 'jello\n'],
    ['more than it had', (path: string) => writeFileSync(path, 'hello\nhello\n'), 'OUTPUT_DIGEST', 'hello\nhello\n'],
  ])('is not printed with %s, and a link is followed for nobody', (_name, plant, code, unverified) => {
    const { show, beside } = printed('echo hello');
    rmSync(beside('stdout.txt'));
    plant(beside('stdout.txt'));
    expect(show('--output', 'stdout')).toEqual({ status: 1, stdout: '', stderr: expect.stringContaining(code) });
    expect(show('--output', 'stdout', '--unverified')).toMatchObject({ status: 1, stdout: unverified });
  });

  it('is not printed where a command had none and somebody put some there', () => {
    const { show, beside } = printed('true');
    writeFileSync(beside('stdout.txt'), 'planted');
    expect(show('--output', 'stdout')).toMatchObject({ status: 1, stdout: '' });
  });

  it('that is gone is missed', () => {
    const { show, beside } = printed('echo hello');
    rmSync(beside('stdout.txt'));
    expect(show('--output', 'stdout')).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('is missing'),
    });
  });

  it('is not printed where nobody trusted vouches for it', () => {
    const { here, show } = printed('echo hello');
    const trust = join(here.directory, 'empty.yml');
    writeFileSync(trust, 'version: 1\nkeys: []\n');
    const refused = { status: 1, stdout: '', stderr: expect.stringContaining('UNTRUSTED_SIGNER') };
    expect(show('--output', 'stdout', '--trust', trust)).toEqual(refused);
    expect(show('--output', 'stdout', '--trust', trust, '--unverified')).toMatchObject({
      status: 1,
      stdout: 'hello\n',
    });
  });

  it('has a status of its own only where its receipt verifies', () => {
    const { show } = printed('echo hello', []);
    expect(show().status).toBe(0);
    const { here, receipt } = printed('echo hello');
    const portable = here.run(['--', 'echo', 'x'], { env: { COMMAND_RECEIPTS_LAUNCHER: 'portable' } }).receipt;
    const shown = here.receipts(['show', portable.receiptId, '--output', 'stdout']);
    expect([shown.status, shown.stdout]).toEqual([1, 'x\n']);
    expect(here.receipts(['show', receipt.receiptId, '--output', 'stdout']).status).toBe(0);
  });

  it.each([
    [['--output', 'stdout', '--json'], /^\{\s+"schema": "command-receipts.error.v1"/],
    [['--unverified'], /^$/],
    [['--output', 'both'], /^$/],
  ])('%j is refused', (args, stdout) => {
    expect(printed('true').show(...args)).toMatchObject({ status: 2, stdout: expect.stringMatching(stdout) });
  });
});

it('an envelope that is a link is not read', () => {
  const { show, beside, here } = printed('echo hello');
  const aside = join(here.directory, 'aside.json');
  writeFileSync(
    aside,
    '{"payload":"eyJhIjoiY2FuYXJ5In0=","payloadType":"x","signatures":[{"keyid":"k","sig":"AA=="}]}',
  );
  rmSync(beside('receipt.dsse.json'));
  symlinkSync(aside, beside('receipt.dsse.json'));
  const { status, stdout } = show('--json');
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ payload: null, facts: null, verified: false });
});

it('what a command chose is shown as text', () => {
  const here = place();
  const { receipt } = here.run(['--', 'printf', '', '\u001b]0;owned\u0007']);
  for (const args of [['show', receipt.receiptId], ['list']]) {
    const { stdout } = here.receipts(args);
    expect(stdout).toContain('\\x1b]0;owned\\x07');
    expect(stdout).not.toContain('\u001b');
  }
});

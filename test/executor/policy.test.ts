import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPolicy } from '../../src/executor/index.ts';

function repository() {
  const top = mkdtempSync(join(tmpdir(), 'receipts-policy-'));
  mkdirSync(join(top, '.git'));
  const folder = join(top, '.github', 'command-receipts');
  return { top, folder, file: join(folder, 'policy.yml') };
}

const unreadable = expect.objectContaining({ code: 'POLICY_UNREADABLE' });

describe('the policy in force', () => {
  it('is the built-in one where the repository has none', async () => {
    expect((await findPolicy(undefined, repository().top)).source).toBe('built-in');
  });

  it("is the repository's own, also from below its top", async () => {
    const { top, folder, file } = repository();
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, 'version: 1\n');
    expect(await findPolicy(undefined, folder)).toMatchObject({ source: 'file', name: file });
    expect((await findPolicy(undefined, top)).digest).toMatch(/^sha256:/);
  });

  it('is refused, not replaced, where something else stands in its place', async () => {
    const broken = repository();
    mkdirSync(broken.folder, { recursive: true });
    symlinkSync('/nonexistent', broken.file);
    await expect(findPolicy(undefined, broken.top)).rejects.toThrowError(unreadable);
    const file = repository();
    mkdirSync(join(file.top, '.github'));
    writeFileSync(file.folder, 'a file');
    await expect(findPolicy(undefined, file.top)).rejects.toThrowError(unreadable);
  });

  it('is never waited for', async () => {
    const { top } = repository();
    const fifo = join(top, 'fifo');
    execFileSync('mkfifo', [fifo]);
    for (const path of [fifo, '/dev/zero', top, join(top, 'none')])
      await expect(findPolicy(path, top)).rejects.toThrowError(unreadable);
  });
});

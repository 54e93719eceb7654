import { relative } from 'node:path';
import { afterAll } from 'vitest';
import { type Problem, type Verification, type VerifyOptions, verifyPaths } from '../../src/verify/index.ts';
import { removeTemporaryDirectories, TaskBuilder, type TaskOptions, TRUST } from './build-store.ts';

afterAll(removeTemporaryDirectories);

/** Every problem of a verification, of chains and receipts alike. */
export function problemsOf({ chains, receipts }: Verification): Problem[] {
  const judged = [...chains.flatMap((chain) => [chain, ...chain.receipts]), ...receipts];
  return judged.flatMap((one) => one.problems);
}

/** `CODE where`, with `where` relative to a directory. */
export function listOf(verification: Verification, directory: string): string[] {
  return problemsOf(verification).map(({ code, where }) => `${code} ${relative(directory, where)}`);
}

export async function verifyTask(task: TaskBuilder, options: Partial<VerifyOptions> = {}): Promise<Verification> {
  return verifyPaths([task.store], { trust: TRUST, ...options });
}

/** Problems of a task, relative to its directory. */
export async function problems(task: TaskBuilder, options: Partial<VerifyOptions> = {}): Promise<string[]> {
  const verification = await verifyTask(task, options);
  const found = listOf(verification, task.directory);
  if (verification.exitCode !== (found.length > 0 ? 1 : 0))
    throw new Error(`exit ${verification.exitCode} with ${found.length} problems`);
  return found;
}

/** The different codes of a list of problems. */
export function codes(found: readonly string[]): string[] {
  return [...new Set(found.map((one) => one.split(' ')[0] ?? ''))].sort();
}

/** An open task with two sealed commands. */
export function twoCommands(options: TaskOptions = {}): TaskBuilder {
  const task = new TaskBuilder(options);
  task.run({ stdout: { redacted: Buffer.from('first') } });
  task.run({ stdout: { redacted: Buffer.from('second') } });
  return task;
}

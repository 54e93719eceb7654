import { describe, expect, test } from 'vitest';
import { selectLauncher } from '../../src/launch/index.ts';
import { bindFailure, portable, run, workspace } from './harness.ts';

describe('which launcher', () => {
  test('Linux where objects can be bound, the portable one where it is asked for, with its reason', () => {
    expect(selectLauncher()).toMatchObject({ kind: process.platform === 'linux' ? 'linux' : 'portable' });
    expect(selectLauncher({ portable: true })).toMatchObject({ kind: 'portable', unboundReason: expect.any(String) });
  });

  test('the portable one says in every receipt that nothing was bound', async () => {
    const { facts, gaps, running } = await run(['true'], { launcher: portable, workspace: workspace() });
    expect(facts.flags).toEqual(['UNBOUND_CWD', 'UNBOUND_EXECUTABLE']);
    expect(facts.gaps).toContainEqual({
      field: '/executable',
      reason: 'platform-unbound',
      detail: portable.unboundReason,
    });
    expect(facts.gaps).toContainEqual({ field: '/cwd', reason: 'cwd-unbound', detail: portable.unboundReason });
    expect(facts.executable).toMatchObject({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      binding: { method: 'none' },
    });
    expect(facts.executable.binding.attempts.map(({ outcome }) => outcome)).toEqual([
      'passed-over',
      'passed-over',
      'passed-over',
      'used',
    ]);
    expect(running.process()).toMatchObject({ startTimeTicks: null, rusage: null });
    expect(gaps).toEqual(['not-observed', 'not-observed', 'not-observed']);
  });

  test('the portable one refuses where the policy does not permit `none`', async () => {
    expect(await bindFailure(['true'], { launcher: portable, order: ['lease'] })).toMatchObject({
      code: 'BINDING_REFUSED',
    });
  });
});

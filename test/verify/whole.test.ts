import { describe, expect, it } from 'vitest';
import { describeVerification, verifyPaths } from '../../src/verify/index.ts';
import { buildWholeTask, TRUST } from './build-store.ts';

describe('a whole store', () => {
  it('verifies', async () => {
    const task = buildWholeTask();
    const result = await verifyPaths([task.store], { trust: TRUST });
    expect(describeVerification(result).join('\n')).toBe('');
    expect(result.exitCode).toBe(0);
  });
});

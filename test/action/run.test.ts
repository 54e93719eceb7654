import { afterEach, beforeEach, expect, test } from 'vitest';
import { Job } from './job.ts';

let job: Job;
beforeEach(() => {
  job = new Job();
});
afterEach(() => job.dispose());

test('a first try', async () => {
  const result = await job.step({ run: 'echo hello; exit 3' });
  console.log(result);
  console.log(await job.post());
});

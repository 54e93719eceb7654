// Protected like the step itself: the head of the task is signed here.
const { protectProcess } = await import('../launch/index.ts');
const protection = protectProcess();

const { closeJob } = await import('./close-job.ts');
await closeJob(process.env, protection);
process.exit();

export {};

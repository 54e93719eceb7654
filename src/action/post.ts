// Protected like the step itself: the head of the task is signed here.
const { protectProcess } = await import('../launch/index.ts');
protectProcess();

const { closeJob } = await import('./close-job.ts');
await closeJob(process.env);
process.exit();

export {};

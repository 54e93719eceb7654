export { runAttempt } from './attempt.ts';
export type { AttemptResult } from './attempt-parts.ts';
export { type ConsoleStream, consoleStream, overWritable } from './console.ts';
export { openExecutor, platformLocks, workspaceOf } from './open.ts';
export type { AttemptRequest, ExecutorSettings } from './plan.ts';
export { findPolicy } from './policy.ts';

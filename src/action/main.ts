// The step protects itself before anything else is loaded: from here on it holds keys.
const { protectProcess } = await import('../launch/index.ts');
const protection = protectProcess();

const { runStep } = await import('./run-step.ts');
process.exitCode = await runStep(process.env, protection);
// Handles of a closed console must not keep us, and a pending timer must not delay the exit code.
process.exit();

export {};

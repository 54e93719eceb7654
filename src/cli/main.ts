#!/usr/bin/env node
// The executor protects itself before anything else is loaded: from here on it may come to hold keys.
const protection = process.argv[2] === 'run' ? (await import('../launch/index.ts')).protectProcess() : undefined;

const { main } = await import('./program.ts');
await main(process.argv, protection);

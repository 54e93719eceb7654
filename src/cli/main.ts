#!/usr/bin/env node
// What signs protects itself before anything else is loaded: from here on it may come to hold keys.
const signs = ['run', 'recover', 'close'].includes(process.argv[2] ?? '');
const protection = signs ? (await import('../launch/index.ts')).protectProcess() : undefined;

const { main } = await import('./program.ts');
await main(process.argv, protection);

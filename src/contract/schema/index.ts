export * from './journal.ts';
export * from './launch.ts';
export * from './outcome.ts';
export * from './primitives.ts';
export * from './receipt.ts';

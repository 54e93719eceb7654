export * from './canonical.ts';
export * from './codes.ts';
export * from './describe.ts';
export * from './digest.ts';
export * from './dsse.ts';
export * from './errors.ts';
export * from './exit-codes.ts';
export type * from './schema/index.ts';
export * from './version.ts';

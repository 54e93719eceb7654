export * from './canonical.ts';
export * from './codes.ts';
export * from './digest.ts';
export * from './dsse.ts';
export * from './errors.ts';
export type * from './schema/index.ts';

export { ChunkIndex, type ChunkLog, type StreamName } from './chunks.ts';
export { type Captures, Masks } from './masks.ts';
export { Pump, type PumpResult } from './pump.ts';
export type { Quota } from './retention.ts';
export { type CapturedStream, StreamCapture } from './stream.ts';

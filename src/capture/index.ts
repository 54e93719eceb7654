export { ChunkIndex, type ChunkLog, type StreamName } from './chunks.ts';
export { Pump, type PumpResult } from './pump.ts';
export type { Quota } from './retention.ts';
export { type CapturedStream, StreamCapture } from './stream.ts';

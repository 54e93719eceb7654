// Writes what a plan says: [{ stream, base64, pauseMs }], each entry in one write of its own.
import { readFileSync, writeSync } from 'node:fs';

const sleeper = new Int32Array(new SharedArrayBuffer(4));
for (const { stream, base64, pauseMs } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  writeSync(stream === 'stderr' ? 2 : 1, Buffer.from(base64, 'base64'));
  if (pauseMs > 0) Atomics.wait(sleeper, 0, 0, pauseMs);
}

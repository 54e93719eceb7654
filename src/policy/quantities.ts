import ms, { type StringValue } from 'ms';
import { ReceiptsError } from '../contract/index.ts';

const UNITS: Readonly<Record<string, number>> = { B: 1, kB: 1000, MB: 1e6, KiB: 1024, MiB: 1024 ** 2 };

/** What is kept of one stream stands in memory until it is sealed. */
const LARGEST_SIZE = 64 * 1024 ** 2;

/** Bytes of `65536`, `64KiB` or `1MB`; at most 64 MiB. */
export function sizeBytes(size: number | string): number {
  const match = /^([0-9]+) ?([A-Za-z]*)$/.exec(String(size));
  const bytes = Number(match?.[1]) * (UNITS[match?.[2] || 'B'] ?? Number.NaN);
  if (!Number.isSafeInteger(bytes) || bytes > LARGEST_SIZE)
    throw new ReceiptsError('POLICY_INVALID', `${size} is no size between 0 and 64MiB`, {
      next: 'Write it like 512KiB or 4MiB.',
    });
  return bytes;
}

/** The longest delay that a timer takes: 2^31 - 1 ms, some 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** Milliseconds of `90s`, `10m`, `1.5h`; undefined for anything else, zero and what no timer can hold. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  if (!/^[0-9]+(\.[0-9]+)? ?(ms|s|m|h|d)$/.test(trimmed)) return undefined;
  const duration = Math.round(ms(trimmed as StringValue));
  return duration > 0 && duration <= LONGEST_MS ? duration : undefined;
}

export function durationMs(text: string): number {
  const duration = parseDuration(text);
  if (duration === undefined)
    throw new ReceiptsError('POLICY_INVALID', `${text} is no duration`, { next: 'Write it like 90s, 10m or 2h.' });
  return duration;
}

import type { StreamEvidence } from '../contract/index.ts';
import { type CommandFacts, STREAM_NAMES, type StreamName } from './facts.ts';
import type { Findings } from './findings.ts';

/** So many processes that held a stream are named; hostile evidence can state any number. */
const MOST_NAMED = 5;

/** A stream that was not read to its end is no fault of the evidence, but whoever reads it has to know. */
export function noteClosings(facts: CommandFacts, findings: Findings): void {
  for (const name of STREAM_NAMES) {
    const stream = facts.streams?.[name];
    const note = stream ? noteOf(name, stream) : undefined;
    if (note !== undefined) findings.note(note);
  }
}

function noteOf(name: StreamName, stream: StreamEvidence): string | undefined {
  const stopped = `reading stopped after ${stream.observedBytes} bytes`;
  switch (stream.closed) {
    case 'eof':
      return undefined;
    case 'grace-expired':
      return `${name} was still held by ${holdersOf(stream)} when the grace period ended: what was printed later is not in the evidence`;
    case 'consumer-closed':
      return `nobody read ${name} any more: ${stopped}`;
    case 'reader-stopped':
      return `the reader of ${name} was stopped: ${stopped}`;
    case 'read-error':
      return `${name} could not be read to its end: ${stopped}`;
  }
}

function holdersOf({ holders = [] }: StreamEvidence): string {
  if (holders.length === 0) return 'a process that is not known';
  const named = holders.slice(0, MOST_NAMED).map(({ comm, pid }) => `${comm} (pid ${pid})`);
  if (holders.length > MOST_NAMED) named.push(`${holders.length - MOST_NAMED} more`);
  return named.join(', ');
}

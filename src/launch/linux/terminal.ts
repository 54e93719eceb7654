import { isatty } from 'node:tty';
import { SIG_BLOCK, SIG_SETMASK, SIGSET_SIZE } from './abi.ts';
import { fileActionsTcsetpgrp, getpgrp, signalMask, tcgetpgrp, tcsetpgrp } from './libc.ts';

/**
 * The command is its own process group, so at a terminal it must be the foreground one: else its first read stops it.
 * Only a launcher that is itself in the foreground gives the terminal away, and takes it back at the end.
 */
export interface Terminal {
  /** In the child before exec (glibc 2.35); elsewhere `give` does it just after, and wakes a child that was too quick. */
  addTo(actions: Uint8Array): void;
  give(group: number): void;
  takeBack(): void;
}

const STDIN = 0;
const SIGTTOU = 22;

export function foregroundTerminal(): Terminal | undefined {
  if (!isatty(STDIN)) return undefined;
  const own = getpgrp();
  if (tcgetpgrp(STDIN) !== own) return undefined;
  return {
    addTo(actions) {
      fileActionsTcsetpgrp?.(actions, STDIN);
    },
    give(group) {
      setForeground(group);
      if (!fileActionsTcsetpgrp) wake(group);
    },
    takeBack: () => setForeground(own),
  };
}

/** From the background tcsetpgrp stops the caller with SIGTTOU, unless that is blocked. */
function setForeground(group: number): void {
  const blocked = Buffer.alloc(SIGSET_SIZE);
  blocked.writeUInt32LE(1 << (SIGTTOU - 1), 0);
  const previous = Buffer.alloc(SIGSET_SIZE);
  signalMask(SIG_BLOCK, blocked, previous);
  tcsetpgrp(STDIN, group);
  signalMask(SIG_SETMASK, previous, null);
}

export function wake(group: number): void {
  try {
    process.kill(-group, 'SIGCONT');
  } catch {
    // It is gone already; there is nothing to wake.
  }
}

import { isatty } from 'node:tty';
import { SIG_BLOCK, SIG_SETMASK, SIGSET_SIZE } from './abi.ts';
import { fileActionsTcsetpgrp, getpgrp, signalMask, tcgetpgrp, tcsetpgrp } from './libc.ts';

/**
 * The command is its own process group, so at a terminal it must be the foreground one: else its first read stops it.
 * The terminal is given only by who has it, and
 * taken back only from the command: a shell may have sent both of us to the background meanwhile.
 */
export interface Terminal {
  /** In the child before exec (glibc 2.35); elsewhere `give` does it just after, and wakes a child that was too quick. */
  addTo(actions: Uint8Array): void;
  give(group: number): void;
  takeBack(group: number): void;
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
      if (tcgetpgrp(STDIN) !== own) return;
      setForeground(group);
      wake(group);
    },
    takeBack(group) {
      if (tcgetpgrp(STDIN) === group) setForeground(own);
    },
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

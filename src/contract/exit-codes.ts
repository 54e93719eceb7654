/** Exit codes of `receipts run` that are not the command's own. */
export const RUN_EXIT = { timedOut: 124, refused: 125, notExecutable: 126, notFound: 127 } as const;

/** Exit codes of every other command. */
export const EXIT = { ok: 0, notVerified: 1, unusable: 2 } as const;

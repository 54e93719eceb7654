/** Once the command runs, a journal that cannot be written must not touch it: the first failure is kept for its receipt. */
export interface Recorder {
  run(write: () => void): void;
  error(): unknown;
}

export function recorder(): Recorder {
  let failure: unknown;
  return {
    run(write) {
      try {
        write();
      } catch (error) {
        failure ??= error;
      }
    },
    error: () => failure,
  };
}

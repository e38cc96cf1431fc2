/**
 * Keeps the read model open.
 *
 * KO1  After a failure the read model is opened again, without end: a disk that has space again needs nobody.
 * KO2  From a failure until everything was read since, the read model tells its trouble: a reader that fails at each
 *      write would look well whenever it is between two failures.
 */
export interface KeepOpenOptions {
  /** Opens the read model and resolves when `signal` ended it; rejects when it failed. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** True where everything that stands in the topics has been read. */
  readonly isWhole: () => boolean;
  /** Resolves when the read model may be opened again. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
  readonly onFailed: (reason: unknown) => void;
}

export interface KeptOpen {
  /** Ended by `signal`. */
  readonly running: Promise<void>;
  /** The last failure in words (KO2); null where all is well. */
  trouble(): string | null;
}

export function keepOpen({ run, isWhole, pause, onFailed }: KeepOpenOptions, signal: AbortSignal): KeptOpen {
  let failure: string | null = null;
  const runUntilEnded = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await run(signal);
      } catch (error) {
        failure = wordsOf(error);
        onFailed(error);
      }
      if (!signal.aborted) await pause(signal);
    }
  };
  return {
    running: runUntilEnded(),
    trouble: () => {
      if (failure !== null && isWhole()) failure = null;
      return failure;
    },
  };
}

/** The error's words with its cause, which says more than the error: SQLite's "database or disk is full". */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

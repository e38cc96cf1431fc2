/**
 * Keeps a cache of topics open: the read model, the membership of audiences.
 *
 * KO1  After a failure the cache is opened again, without end: a disk that has space again needs nobody.
 * KO2  From a failure until everything was read since, the cache tells its trouble: a reader that fails at each write
 *      would look well whenever it is between two failures.
 */
import { pause as pauseFor } from "@posthaste/kafka/connection/deadline";

/** The time, in ms, for which closing waits for the cache. Records not written by then are read again. */
const CLOSE_MS = 2000;

export interface KeepOpenOptions {
  /** Opens the cache and resolves when `signal` ended it; rejects when it failed. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** True where everything that stands in the topics has been read. */
  readonly isWhole: () => boolean;
  /** Resolves when the cache may be opened again. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
  readonly onFailed: (reason: unknown) => void;
}

export interface KeptOpen {
  /** The last failure in words (KO2); null where all is well. */
  trouble(): string | null;
  close(): Promise<void>;
}

export function keepOpen({ run, isWhole, pause, onFailed }: KeepOpenOptions): KeptOpen {
  const closing = new AbortController();
  const { signal } = closing;
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
  const running = runUntilEnded();
  return {
    trouble: () => {
      if (failure !== null && isWhole()) failure = null;
      return failure;
    },
    close: async () => {
      closing.abort();
      const enough = new AbortController();
      await Promise.race([running, pauseFor(CLOSE_MS, enough.signal)]);
      enough.abort();
    },
  };
}

/** The error's words with its cause, which says more than the error: SQLite's "database or disk is full". */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

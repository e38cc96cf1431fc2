/** One request for many callers: each caller gets an answer to a request that went out after the call. */

/**
 * Wraps `ask` so that callers share its runs, of which at most one is out at a time. Calls that come while it runs
 * share the next run, since the answer that is on its way may be older than the call.
 */
export function singleFlight<T>(ask: () => Promise<T>): () => Promise<T> {
  let out: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  const start = (): Promise<T> => {
    out = ask().finally(() => {
      out = null;
    });
    return out;
  };
  return () => {
    // Between the end of a run and the start of the next, a new call waits with the others.
    if (next !== null) return next;
    if (out === null) return start();
    next = out
      .catch(() => {})
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}

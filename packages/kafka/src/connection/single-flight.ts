/** One question for many askers: whoever asks gets an answer to a question that went out after they asked. */

/**
 * Wraps `ask` so that at most one question is out at a time. Those who ask meanwhile share the next one, since the
 * answer that is on its way may be older than their asking.
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
    if (out === null) return start();
    next ??= out
      .catch(() => {})
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}

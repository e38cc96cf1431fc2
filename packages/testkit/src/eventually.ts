/** Waiting in a test: look again and again until it holds. Nothing sleeps for a time that somebody guessed. */

/** Waiting that ends well costs nothing, and a machine with other work on it may stand still for seconds. */
const PATIENCE_MS = 30_000;

export interface EventuallyOptions {
  /** How long it may take before the last failure is the test's; default `PATIENCE_MS`. */
  readonly timeoutMs?: number;
  /** Pause between two looks; default 20 ms. */
  readonly intervalMs?: number;
}

/**
 * Calls `check` until it no longer throws and answers what it answered. After `timeoutMs` it rejects with the last
 * thing that `check` threw, so that the test's report shows the assertion and not the wait. `check` runs once at least,
 * one call at a time.
 */
export async function eventually<T>(check: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<T> {
  const { timeoutMs = PATIENCE_MS, intervalMs = 20 } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() >= deadline) throw error;
    }
    await pause(intervalMs);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

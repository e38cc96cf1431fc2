/** Waiting in a test: look again and again until it holds. Nothing sleeps for a time that somebody guessed. */

/** Waiting that ends well costs nothing, and a machine with other work on it may stand still for seconds. */
const PATIENCE_MS = 30_000;
/** A look may cost the processes that are looked at, so they become rarer while there is nothing to see. */
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 100;
/**
 * A look that itself takes long keeps the system under test busy, so that the pause after it is so many times as long.
 */
const PAUSES_OF_A_LOOK = 2;
/** But no longer than this, whatever the look took. */
const LONGEST_PAUSE_OF_A_LOOK_MS = 1_000;

export interface EventuallyOptions {
  /** How long it may take before the last failure is the test's; default `PATIENCE_MS`. */
  readonly timeoutMs?: number;
  /**
   * Pause between two looks, the shortest. By default a tenth of the time that has passed, of 20 to 100 ms. After a
   * look that took long it is longer.
   */
  readonly intervalMs?: number;
}

/**
 * Calls `check` until it no longer throws and returns its result. After `timeoutMs` it rejects with the last thing that
 * `check` threw, so that the test's report shows the assertion and not the wait. `check` runs once at least, one call
 * at a time.
 */
export async function eventually<T>(check: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<T> {
  const { timeoutMs = PATIENCE_MS, intervalMs } = options;
  const startedAtMs = performance.now();
  for (;;) {
    const lookedAtMs = performance.now();
    try {
      return await check();
    } catch (error) {
      if (performance.now() - startedAtMs >= timeoutMs) throw error;
    }
    const nowMs = performance.now();
    await pause(pauseAfter(nowMs - startedAtMs, { lookMs: nowMs - lookedAtMs, intervalMs }));
  }
}

export interface Look {
  /** How long the look took. */
  readonly lookMs?: number;
  /** The pause that was asked for. */
  readonly intervalMs?: number | undefined;
}

/** The pause after so long a wait and such a look. */
export function pauseAfter(waitedMs: number, { lookMs = 0, intervalMs }: Look = {}): number {
  const usualMs = intervalMs ?? Math.min(Math.max(waitedMs / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
  return Math.max(usualMs, Math.min(lookMs * PAUSES_OF_A_LOOK, LONGEST_PAUSE_OF_A_LOOK_MS));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

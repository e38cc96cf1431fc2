/**
 * The concurrency limits that URLs were seen to manage, remembered beyond the time for which their destinations are
 * known: a receiver that is called once an hour need not start from the smallest limit each time.
 *
 * Owns: a limit for each key, at most `MOST_KEYS`, those noted last.
 * RL1  What is remembered decays: its part above `first` halves each `HALF_LIFE_MS`, and nothing is known after
 *      `FORGOTTEN_MS`.
 */

/** What a URL was seen to manage at an earlier time; null when nothing is known. */
export type RememberedLimitOf = (url: string) => number | null;

const MOST_KEYS = 20_000;
const HALF_LIFE_MS = 2 * 3_600_000;
const FORGOTTEN_MS = 12 * 3_600_000;

interface Noted {
  readonly limit: number;
  readonly atMs: number;
}

export class RememberedLimits {
  readonly #first: number;
  readonly #noted = new Map<string, Noted>();

  /** `first`: the limit of a URL of which nothing is known. */
  constructor(first: number) {
    this.#first = first;
  }

  /** Remembers what a URL manages now. */
  note(key: string, limit: number, nowMs: number): void {
    this.#noted.delete(key);
    if (limit <= this.#first) return;
    this.#noted.set(key, { limit, atMs: nowMs });
    if (this.#noted.size <= MOST_KEYS) return;
    // A map keeps the order of insertion: its first key was noted longest ago.
    const [oldest] = this.#noted.keys();
    if (oldest !== undefined) this.#noted.delete(oldest);
  }

  /** The limit to begin with; null when nothing is remembered. */
  of(key: string, nowMs: number): number | null {
    const noted = this.#noted.get(key);
    if (noted === undefined || nowMs - noted.atMs >= FORGOTTEN_MS) return null;
    return this.#first + (noted.limit - this.#first) * 0.5 ** ((nowMs - noted.atMs) / HALF_LIFE_MS);
  }
}

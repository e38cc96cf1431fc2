/**
 * The concurrency limits that URLs reached, remembered for hours after their destinations were forgotten: a receiver
 * that is called once an hour need not start from the smallest limit each time.
 *
 * Owns: a limit for each of at most `MOST_KEYS` keys, those that were noted last.
 * RL1  A remembered limit decays: its part above `first` halves every `HALF_LIFE_MS`, and it is forgotten after
 *      `FORGOTTEN_MS`.
 */

/** The concurrency limit that a URL reached earlier; null when none is remembered. */
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

  /**
   * Remembers the limit that a URL has reached; a limit that is not above `first` only makes an earlier one forgotten.
   */
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

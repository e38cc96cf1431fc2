/**
 * Drops the second copy of a republished record: a crash between a republish and its commit leaves two (W6).
 *
 * Owns: the republished records that were seen lately, each with the place where its first copy stands.
 * H1  A record is a repeat only when the same republished record was seen at *another* place: a record that is read again, after a
 *     rebalance for instance, is not its own copy.
 * H2  At least the newest `limit` republished records are held, and at most twice as many. Best effort: what was forgotten, or seen by
 *     another process, is delivered again.
 */
export class DueGate {
  readonly #limit: number;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  constructor(limit = 50_000) {
    this.#limit = limit;
  }

  /** Notes that the republished record stands at `place`; true when another copy of it was seen before. */
  isRepeat(republish: string, place: string): boolean {
    const seen = this.#young.get(republish) ?? this.#old.get(republish);
    if (seen !== undefined) return seen !== place;
    if (this.#young.size >= this.#limit) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(republish, place);
    return false;
  }
}

/**
 * Drops the second copy of a hand-off: a crash between a hand-off and its commit leaves two (W6).
 *
 * Owns: the hand-offs that were seen lately, each with the place where its first copy stands.
 * H1  A record is a repeat only when the same hand-off was seen at *another* place: a record that is read again, after a
 *     rebalance for instance, is not its own copy.
 * H2  At least the newest `limit` hand-offs are held, and at most twice as many. Best effort: what was forgotten, or seen by
 *     another process, is delivered again.
 */
export class DueGate {
  readonly #limit: number;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  constructor(limit = 50_000) {
    this.#limit = limit;
  }

  /** Notes that the hand-off stands at `place`; true when another copy of it was seen before. */
  isRepeat(handOff: string, place: string): boolean {
    const seen = this.#young.get(handOff) ?? this.#old.get(handOff);
    if (seen !== undefined) return seen !== place;
    if (this.#young.size >= this.#limit) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(handOff, place);
    return false;
  }
}

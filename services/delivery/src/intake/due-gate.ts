/**
 * The gate that finds the second copy of a republished record (W6). A crash between a republish and its commit leaves
 * two copies.
 *
 * Owns: the republished records that this process read lately, each with the place where it read the first copy.
 * H1  A record is a repeat only when this process read the same republished record at *another* place: a record that is
 *     read again, after a rebalance for instance, is not its own copy.
 * H2  The gate holds at least the newest `limit` republished records, and at most twice as many. This is best effort:
 *     when the gate forgot the first copy, or another process read it, the second copy is delivered too.
 */
export class DueGate {
  readonly #limit: number;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  constructor(limit = 50_000) {
    this.#limit = limit;
  }

  /** Notes that a copy of the republished record stands at `place`; true when this process read another copy before. */
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

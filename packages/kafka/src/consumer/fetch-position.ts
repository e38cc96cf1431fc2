/**
 * How far a partition is fetched: the next offset to fetch, the log's end as far as it is known, and whether kafkajs
 * fetches on.
 *
 * Owns: these three. The partition begins paused, as kafkajs's consumer pauses what it gains.
 */

/** kafkajs's fetching of one partition. */
export interface PartitionFetch {
  pause(): void;
  resume(): void;
  /** The next fetch begins at `offset`. */
  seek(offset: number): void;
}

/** Offsets of what a fetch brought. */
export interface FetchedSpan {
  /** The offset that was asked for. */
  readonly fetchedFrom: number;
  /** The last offset that the fetch covers, records or not. */
  readonly lastOffset: number;
}

export class FetchPosition {
  readonly #fetch: PartitionFetch;
  #offset = 0;
  /** Where a fetch from above was answered with a seek; -1 since the position moved otherwise. */
  #soughtAt = -1;
  #endOffset = 0;
  #isLed = true;
  #isPaused = true;

  constructor(fetch: PartitionFetch) {
    this.#fetch = fetch;
  }

  /** The next offset to fetch. */
  get offset(): number {
    return this.#offset;
  }

  /** The highest end of the log that was seen. */
  get endOffset(): number {
    return Math.max(this.#endOffset, this.#offset);
  }

  /** The next fetch leaves the partition out: kafkajs sees that it is resumed only when that fetch has ended. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /**
   * Nothing is known to be left to fetch, the partition is not to be fetched now, or it has no leader to be fetched
   * from.
   */
  get hasNothingToFetch(): boolean {
    return this.#isPaused || !this.#isLed || this.#offset >= this.#endOffset;
  }

  noteEnd(endOffset: number): void {
    if (endOffset > this.#endOffset) this.#endOffset = endOffset;
  }

  /** Until it is told otherwise the partition has a leader. */
  noteLeader(isLed: boolean): void {
    this.#isLed = isLed;
  }

  /** Fetches from `offset` on. */
  seek(offset: number): void {
    this.#offset = offset;
    this.#soughtAt = -1;
    this.#fetch.seek(offset);
  }

  /** Fetches anew from where the position is. */
  seekAgain(): void {
    this.#fetch.seek(this.#offset);
  }

  /**
   * Moves over what a fetch brought, where that goes on from the position (PI1 of partition-intake.ts). A fetch from
   * above it is *refused* once and the position sought; an *old* one lies below the position; every other is *taken*.
   */
  moveOver({ fetchedFrom, lastOffset }: FetchedSpan): "refused" | "old" | "taken" {
    if (lastOffset < this.#offset) return "old";
    if (fetchedFrom > this.#offset && this.#soughtAt !== this.#offset) {
      this.#soughtAt = this.#offset;
      this.seekAgain();
      return "refused";
    }
    this.#offset = lastOffset + 1;
    return "taken";
  }

  /** Moves over offsets that hold no record. False where they do not begin at the position. */
  skip(firstOffset: number, lastOffset: number): boolean {
    if (firstOffset !== this.#offset) return false;
    this.#offset = lastOffset + 1;
    return true;
  }

  /** Pauses or resumes the partition, where that is a change. */
  setPaused(isPaused: boolean): void {
    if (isPaused !== this.#isPaused) this.restatePaused(isPaused);
  }

  /** The same, said outright: kafkajs's own picture of what is paused outlives assignments. */
  restatePaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused) this.#fetch.pause();
    else this.#fetch.resume();
  }
}

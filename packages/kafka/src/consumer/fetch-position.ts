/**
 * How far a partition was fetched.
 *
 * Owns: the next offset to fetch, the log's end as far as it is known, whether the partition has a leader, and whether
 * its fetching is paused. A partition begins paused: the consumer pauses each partition that it gains.
 */

/** kafkajs's fetching of one partition. */
export interface PartitionFetch {
  pause(): void;
  resume(): void;
  /** Makes the next fetch begin at `offset`. */
  seek(offset: number): void;
}

/** The offsets that a fetch covered. */
export interface FetchedSpan {
  /** The offset that the fetch asked for. */
  readonly fetchedFrom: number;
  /** The last offset that the fetch covers, whether a record has it or not. */
  readonly lastOffset: number;
}

export class FetchPosition {
  readonly #fetch: PartitionFetch;
  #offset = 0;
  /** The position at which the last fetch from above was refused (PI1 of partition-intake.ts); -1 after a seek. */
  #soughtAt = -1;
  #endOffset = 0;
  #hasLeader = true;
  #isPaused = true;

  constructor(fetch: PartitionFetch) {
    this.#fetch = fetch;
  }

  /** The next offset to fetch. */
  get offset(): number {
    return this.#offset;
  }

  /** The highest end offset of the log that was seen. */
  get endOffset(): number {
    return Math.max(this.#endOffset, this.#offset);
  }

  /** While true, fetches leave the partition out. kafkajs sees a resume only when the fetch that is out has ended. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** True when every known record was fetched, fetching is paused, or the partition has no leader. */
  get hasNothingToFetch(): boolean {
    return this.#isPaused || !this.#hasLeader || this.#offset >= this.#endOffset;
  }

  noteEnd(endOffset: number): void {
    if (endOffset > this.#endOffset) this.#endOffset = endOffset;
  }

  /** Notes whether the partition has a leader. At first it counts as having one. */
  noteLeader(isLed: boolean): void {
    this.#hasLeader = isLed;
  }

  /** Makes fetching go on at `offset`. */
  seek(offset: number): void {
    this.#offset = offset;
    this.#soughtAt = -1;
    this.#fetch.seek(offset);
  }

  /** Makes kafkajs fetch from the present position once more. */
  seekAgain(): void {
    this.#fetch.seek(this.#offset);
  }

  /**
   * Moves the position over a fetch, by PI1 of partition-intake.ts. *old*: the fetch lies below the position, which
   * stays. *refused*: the fetch began above the position, and is the first to do so there; kafkajs is sent back to the
   * position. *taken*: any other fetch; the position moves behind its last offset.
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

  /** Moves over offsets without records. False when they do not begin at the position, which then stays. */
  skip(firstOffset: number, lastOffset: number): boolean {
    if (firstOffset !== this.#offset) return false;
    this.#offset = lastOffset + 1;
    return true;
  }

  /** Pauses or resumes fetching, if that is a change. */
  setPaused(isPaused: boolean): void {
    if (isPaused !== this.#isPaused) this.restatePaused(isPaused);
  }

  /** Pauses or resumes fetching even if that is no change: kafkajs remembers the pauses of an earlier assignment. */
  restatePaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused) this.#fetch.pause();
    else this.#fetch.resume();
  }
}

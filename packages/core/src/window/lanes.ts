/**
 * Order within a key while everything else runs at once: a pure scheduler that says what may start.
 *
 * Owns: for each lane that has work, its newest member, found by the lane's hash; members of a lane are linked in the
 * order they came.
 * LN1  Members of one lane run one at a time, in the order they were added.
 * LN2  A member without a lane, or alone in its lane, may start at once.
 * LN3  A lane without work costs nothing: it is forgotten.
 * LN4  Nothing is kept of a member that is finished, and nothing is allocated for one.
 *
 * The table is our own for LN4: a Map that names come into and leave is made anew every few hundred of them, which cost
 * 3 % of a delivery's CPU.
 */

/** What runs in lanes. The fields that can be written are the scheduler's to set. */
export interface LaneMember<M> {
  /** Members of equal lanes run in order; null runs by itself. */
  readonly lane: string | null;
  nextInLane: M | undefined;
  /** The newest member of another lane with the same place in the table. */
  nextInBucket: M | undefined;
}

const FEWEST_BUCKETS = 64;

export class Lanes<M extends LaneMember<M>> {
  /** As many as a power of two, and not fewer than there are lanes. */
  #buckets: (M | undefined)[] = emptyBuckets(FEWEST_BUCKETS);
  #size = 0;
  readonly #seed: number;

  /** `seed`: 32 bits, drawn at random, so that who chooses keys cannot know which of them meet in a bucket. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Lanes that have work. */
  get size(): number {
    return this.#size;
  }

  /** Adds a member; true when it may start now, else it is answered by a later `finish`. */
  add(member: M): boolean {
    const { lane } = member;
    if (lane === null) return true;
    const bucket = this.#bucketOf(lane);
    const before = this.#remove(lane, bucket);
    this.#put(member, bucket);
    if (before !== undefined) {
      before.nextInLane = member;
      return false;
    }
    this.#size += 1;
    if (this.#size > this.#buckets.length) this.#grow();
    return true;
  }

  /** A member that was started is finished; answers the one that may start now. Call once a member. */
  finish(member: M): M | undefined {
    const { lane, nextInLane } = member;
    if (lane === null) return undefined;
    if (nextInLane === undefined) {
      this.#remove(lane, this.#bucketOf(lane));
      this.#size -= 1;
    }
    member.nextInLane = undefined;
    return nextInLane;
  }

  #put(member: M, bucket: number): void {
    member.nextInBucket = this.#buckets[bucket];
    this.#buckets[bucket] = member;
  }

  /** Takes the lane's newest member out of its bucket; undefined when the lane has none. */
  #remove(lane: string, bucket: number): M | undefined {
    let previous: M | undefined;
    let member = this.#buckets[bucket];
    while (member !== undefined && member.lane !== lane) {
      previous = member;
      member = member.nextInBucket;
    }
    if (member === undefined) return undefined;
    if (previous === undefined) this.#buckets[bucket] = member.nextInBucket;
    else previous.nextInBucket = member.nextInBucket;
    member.nextInBucket = undefined;
    return member;
  }

  #grow(): void {
    const grown = this.#buckets;
    this.#buckets = emptyBuckets(grown.length * 2);
    for (let member of grown) {
      while (member !== undefined) {
        const next: M | undefined = member.nextInBucket;
        if (member.lane !== null) this.#put(member, this.#bucketOf(member.lane));
        member = next;
      }
    }
  }

  /** FNV-1a, over UTF-16 units. */
  #bucketOf(lane: string): number {
    let hash = this.#seed;
    for (let at = 0; at < lane.length; at += 1) hash = Math.imul(hash ^ lane.charCodeAt(at), 0x01000193);
    return (hash ^ (hash >>> 15)) & (this.#buckets.length - 1);
  }
}

function emptyBuckets<M>(count: number): (M | undefined)[] {
  return new Array<M | undefined>(count).fill(undefined);
}

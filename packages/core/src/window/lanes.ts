/**
 * Order within a lane while different lanes run at once: a scheduler that says which member may start. It starts
 * nothing itself.
 *
 * Owns: for each lane that has work, its newest member, found by the lane's hash; members of a lane are linked in the
 * order in which they came.
 * LN1  Members of one lane run one at a time, in the order in which they were added.
 * LN2  A member without a lane, or alone in its lane, may start at once.
 * LN3  A lane without work is forgotten, and costs nothing.
 * LN4  Nothing is kept of a finished member, and nothing is allocated for any member.
 *
 * The hash table is our own because of LN4: V8 makes a Map anew after every few hundred keys that are added and
 * deleted, which cost 3 % of a delivery's CPU.
 */

/** A member of a lane. The scheduler alone sets the two links. */
export interface LaneMember<M> {
  /** The name of the member's lane; null for a member that waits for no other. */
  readonly lane: string | null;
  nextInLane: M | undefined;
  /** The newest member of another lane in the same bucket. */
  nextInBucket: M | undefined;
}

const FEWEST_BUCKETS = 64;

export class Lanes<M extends LaneMember<M>> {
  /** The number of buckets is a power of two, and not smaller than the number of lanes. */
  #buckets: (M | undefined)[] = emptyBuckets(FEWEST_BUCKETS);
  #size = 0;
  readonly #seed: number;

  /** `seed`: 32 random bits, so that a caller who chooses keys cannot know which of them share a bucket. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** How many lanes have work. */
  get size(): number {
    return this.#size;
  }

  /** Adds a member. True when it may start now; otherwise a later `finish` answers it. */
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

  /** Removes a member that has run, and returns the member that may start now. Call once for each member. */
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

  /** FNV-1a over UTF-16 units. */
  #bucketOf(lane: string): number {
    let hash = this.#seed;
    for (let at = 0; at < lane.length; at += 1) hash = Math.imul(hash ^ lane.charCodeAt(at), 0x01000193);
    return (hash ^ (hash >>> 15)) & (this.#buckets.length - 1);
  }
}

function emptyBuckets<M>(count: number): (M | undefined)[] {
  return new Array<M | undefined>(count).fill(undefined);
}

/**
 * Order within a key while everything else runs at once: a pure scheduler that says what may start.
 *
 * Owns: for each lane that has work, its newest member; members of a lane are linked in the order they came.
 * N1  Members of one lane run one at a time, in the order they were added.
 * N2  A member without a lane, or alone in its lane, may start at once.
 * N3  A lane without work costs nothing: it is forgotten.
 */

/** What runs in lanes. `nextInLane` is the scheduler's to set. */
export interface LaneMember<M> {
  /** Members of equal lanes run in order; null runs by itself. */
  readonly lane: string | null;
  nextInLane: M | undefined;
}

export class Lanes<M extends LaneMember<M>> {
  readonly #newest = new Map<string, M>();

  /** Lanes that have work. */
  get size(): number {
    return this.#newest.size;
  }

  /** Adds a member; true when it may start now, else it is answered by a later `finish`. */
  add(member: M): boolean {
    if (member.lane === null) return true;
    const before = this.#newest.get(member.lane);
    this.#newest.set(member.lane, member);
    if (before === undefined) return true;
    before.nextInLane = member;
    return false;
  }

  /** A member that was started is finished; answers the one that may start now. Call once a member. */
  finish(member: M): M | undefined {
    if (member.lane === null) return undefined;
    const next = member.nextInLane;
    member.nextInLane = undefined;
    if (next === undefined) this.#newest.delete(member.lane);
    return next;
  }
}

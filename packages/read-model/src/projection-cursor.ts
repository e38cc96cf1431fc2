/** The order of a projection's entries. This file needs nothing of HTTP: the store's thread loads it. */

/** The order of a projection: by an entry's time, then by its place in its topic. */
export interface ProjectionCursor {
  readonly timeMs: number;
  readonly partition: number;
  readonly offset: number;
  /** The entry's number among the entries of its record. */
  readonly place: number;
}

/** Below 0 where `one` comes before `other`. */
export function newestFirst(one: ProjectionCursor, other: ProjectionCursor): number {
  return (
    other.timeMs - one.timeMs || other.partition - one.partition || other.offset - one.offset || other.place - one.place
  );
}

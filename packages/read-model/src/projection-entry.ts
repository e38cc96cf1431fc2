/** The entries of a projection, and the questions that it answers. */

export interface ProjectionEntry extends ProjectionCursor {
  readonly destinationId: string;
  /** The entry's kind: an attempt's outcome, a dead letter's reason. */
  readonly kind: string;
  readonly messageId: string;
  /** All other fields, as JSON. */
  readonly detail: string;
  /**
   * The users that it is about, as the digests of their suppression keys one after the other; empty where they are not
   * noted.
   */
  readonly users: string;
  /** When its event was received, ms since the epoch; absent where that is its own time. */
  readonly receivedAtMs?: number | undefined;
  /**
   * The mark of a dead letter (`dead-letter-mark.ts`). Absent where nothing is noted, and for watching callers where
   * the store does not hold the entry.
   */
  readonly mark?: number | undefined;
}

export interface ProjectionFilter {
  readonly destinationId?: string | undefined;
  readonly kind?: string | undefined;
  readonly messageId?: string | undefined;
  /** Only the entries of these destinations; given beside `messageId` alone. */
  readonly destinationIds?: readonly string[] | undefined;
  /** Not before this moment, ms since the epoch. */
  readonly sinceMs?: number | undefined;
  /** Before this moment, ms since the epoch. */
  readonly untilMs?: number | undefined;
}

export interface ProjectionQuery extends ProjectionFilter {
  readonly limit: number;
  /** Only the entries behind this one in the list. */
  readonly after?: ProjectionCursor | undefined;
}

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

/** Filters of dead letters: their fields, and the test whether a dead letter fits. */
import type { DeadLetterReason, DeadUrl } from "../delivery/dead-letter.ts";
import type { EventType, Other } from "../event/event.ts";

/** A filter; an absent field allows every dead letter. */
export interface DeadLetterFilter {
  readonly destinationId?: string | undefined;
  readonly reason?: DeadLetterReason | Other | undefined;
  /** The status or code of one of the dead letter's URLs (`errorOf`). */
  readonly error?: string | undefined;
  readonly type?: EventType | Other | undefined;
  readonly userId?: string | undefined;
  readonly sourceId?: string | undefined;
  /** The name of a track event, a page or a screen. */
  readonly event?: string | undefined;
  /** Not before this moment, ms since the epoch. */
  readonly sinceMs?: number | undefined;
  /** Before this moment, ms since the epoch. */
  readonly untilMs?: number | undefined;
  readonly messageIds?: readonly string[] | undefined;
  /** The places of the dead letters in their topic, as `deadLetterPlace` writes them. */
  readonly places?: readonly string[] | undefined;
}

/** The facts of a dead letter that a filter goes by. */
export interface DeadLetterFacts {
  readonly partition: number;
  readonly offset: number;
  readonly deadAtMs: number;
  readonly reason: DeadLetterReason | Other;
  readonly destinationId: string;
  readonly sourceId: string;
  readonly messageId: string;
  readonly type: EventType | Other;
  /**
   * The users of the dead letter: the user id, else the anonymous id, and for an alias also the id that it replaces.
   */
  readonly userIds: readonly string[];
  /** The event's name; null where it has none, or it is not known. */
  readonly event: string | null;
  /** The last answers of the dead letter's URLs (`lastAnswers`), as `errorOf` has them. */
  readonly errors: readonly string[];
}

/** `partition:offset`. */
export function deadLetterPlace({ partition, offset }: Pick<DeadLetterFacts, "partition" | "offset">): string {
  return `${partition}:${offset}`;
}

/** A URL's answer in one word: the code of its failure, else the status. */
export function errorOf({ error, status }: Pick<DeadUrl, "error" | "status">): string {
  return error ?? String(status);
}

/** The test of a filter. It goes by the dead letter alone, so that it always answers alike. */
export function deadLetterCheck(filter: DeadLetterFilter): (deadLetter: DeadLetterFacts) => boolean {
  const { sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY, userId, error } = filter;
  const messageIds = filter.messageIds === undefined ? null : new Set(filter.messageIds);
  const places = filter.places === undefined ? null : new Set(filter.places);
  const isNamed = (wanted: string | undefined, found: string | null): boolean =>
    wanted === undefined || wanted === found;
  return (deadLetter) => {
    if (deadLetter.deadAtMs < sinceMs || deadLetter.deadAtMs >= untilMs) return false;
    if (!isNamed(filter.destinationId, deadLetter.destinationId) || !isNamed(filter.reason, deadLetter.reason))
      return false;
    if (!isNamed(filter.sourceId, deadLetter.sourceId) || !isNamed(filter.type, deadLetter.type)) return false;
    if (!isNamed(filter.event, deadLetter.event)) return false;
    if (userId !== undefined && !deadLetter.userIds.includes(userId)) return false;
    if (error !== undefined && !deadLetter.errors.includes(error)) return false;
    if (messageIds !== null && !messageIds.has(deadLetter.messageId)) return false;
    return places === null || places.has(deadLetterPlace(deadLetter));
  };
}

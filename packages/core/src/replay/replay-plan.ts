/** What a dry run counted, and for a replay how it is to be carried out (RP1 of `replay.ts`). */
import type { DeadLetterReason } from "../delivery/dead-letter.ts";
import type { EventType, Other } from "../event/event.ts";
import type { LetterFilter } from "./letter-filter.ts";
import type { LeftOutCounts, ReplayWant } from "./replay.ts";

/** To be sent again, or to be seen no more. */
export const PLAN_PURPOSES = ["replay", "purge"] as const;
export type PlanPurpose = (typeof PLAN_PURPOSES)[number];

/** Offsets of the dead letters' topic, from `start` up to before `end`. */
export interface PlannedRange {
  readonly partition: number;
  readonly start: number;
  readonly end: number;
}

/** One of the letters that were counted. */
export interface LetterSample {
  readonly place: string;
  readonly messageId: string;
  readonly destinationId: string;
  readonly reason: DeadLetterReason | Other;
  readonly type: EventType | Other;
  readonly deadAtMs: number;
}

export interface ReplayPlan {
  readonly purpose: PlanPurpose;
  readonly want: ReplayWant;
  readonly filter: LetterFilter;
  /** Those too that were delivered since or replayed before. */
  readonly again: boolean;
  /** Deliveries a second at the most; null for as many as the brokers take. */
  readonly ratePerSecond: number | null;
  /** Kafka's id of the topic that it counted: of another one it says nothing. Null where the cluster has none. */
  readonly topicId: string | null;
  readonly ranges: readonly PlannedRange[];
  /** Letters that are meant. */
  readonly matched: number;
  /** Letters that fit the filter and are not meant. */
  readonly leftOut: LeftOutCounts;
  /** Where those stand, and what nobody could read; see control's `PlaceSet`. */
  readonly leftOutPlaces: Uint8Array;
  readonly samples: readonly LetterSample[];
  readonly createdAtMs: number;
  /** A plan that is not started by then is gone. */
  readonly expiresAtMs: number;
  /** Null while it is only a plan. */
  readonly startedAtMs: number | null;
}

/** A plan that is being counted. */
export interface PlanCounting extends Pick<ReplayPlan, "purpose" | "filter" | "again"> {
  readonly askedAtMs: number;
  /** Letters that were looked at. */
  readonly looked: number;
  /** About how many there are to look at; null before it has begun. */
  readonly of: number | null;
}

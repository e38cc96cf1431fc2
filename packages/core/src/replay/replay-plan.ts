/** Plans: the dead letters that a dry run counted, and for a replay its settings (RP1 of `replay.ts`). */
import type { DeadLetterReason } from "../delivery/dead-letter.ts";
import type { EventType, Other } from "../event/event.ts";
import type { DeadLetterFilter } from "./dead-letter-filter.ts";
import type { ReplayDesiredState, SkippedCounts } from "./replay.ts";

/** The purpose of a plan: to send its dead letters again, or to purge them. */
export const PLAN_PURPOSES = ["replay", "purge"] as const;
export type PlanPurpose = (typeof PLAN_PURPOSES)[number];

/** Offsets of the dead-letter topic, from `start` up to, not including, `end`. */
export interface PlannedRange {
  readonly partition: number;
  readonly start: number;
  readonly end: number;
}

/** One of the counted dead letters, as an example. */
export interface DeadLetterSample {
  readonly place: string;
  readonly messageId: string;
  readonly destinationId: string;
  readonly reason: DeadLetterReason | Other;
  readonly type: EventType | Other;
  readonly deadAtMs: number;
}

export interface ReplayPlan {
  readonly purpose: PlanPurpose;
  readonly want: ReplayDesiredState;
  readonly filter: DeadLetterFilter;
  /** The plan includes dead letters that were delivered since or replayed before. */
  readonly again: boolean;
  /** The most deliveries a second; null for as many as the brokers take. */
  readonly ratePerSecond: number | null;
  /**
   * Kafka's id of the topic whose dead letters were counted; the plan says nothing of another topic. Null where the
   * cluster gives no ids.
   */
  readonly topicId: string | null;
  readonly ranges: readonly PlannedRange[];
  /** How many dead letters the plan is for. */
  readonly matched: number;
  /** How many dead letters fit the filter and are skipped, by cause. */
  readonly leftOut: SkippedCounts;
  /** The places of the dead letters that are skipped, and of unreadable records, as control's `PlaceSet` has them. */
  readonly leftOutPlaces: Uint8Array;
  readonly samples: readonly DeadLetterSample[];
  readonly createdAtMs: number;
  /** When the plan is forgotten, unless it is started before. */
  readonly expiresAtMs: number;
  /** When the plan was started; null before. */
  readonly startedAtMs: number | null;
}

/** A plan that is being counted. */
export interface PlanCounting extends Pick<ReplayPlan, "purpose" | "filter" | "again"> {
  readonly askedAtMs: number;
  /** How many dead letters were looked at so far. */
  readonly looked: number;
  /** About how many there are; null before the counting has begun. */
  readonly of: number | null;
}

/** The facts of one delivery, from the attempt log and the dead letters, that a verdict is made of. */
import type { AttemptRecord, DeferralRecord } from "../delivery/attempt-record.ts";
import type { UrlAnswer } from "./verdict.ts";

/** A dead letter, as far as a verdict needs it. */
export interface DeadLetterFact {
  readonly deadAtMs: number;
  readonly reason: string;
  readonly reasonClass: string;
  /** How many attempts were made. */
  readonly attempts: number;
  readonly replayId: string | null;
  readonly lastAttempt: readonly UrlAnswer[];
  /** The dead letter's place, as `partition:offset`; null for a dead letter that was purged. */
  readonly place: string | null;
}

/** All facts of one event for one destination, in any order. */
export interface DeliveryFacts<Dead extends DeadLetterFact = DeadLetterFact> {
  readonly attempts: readonly AttemptRecord[];
  readonly deferrals: readonly DeferralRecord[];
  readonly deadLetters: readonly Dead[];
}

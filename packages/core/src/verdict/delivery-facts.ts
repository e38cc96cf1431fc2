/** What is known of one delivery, from the attempt log and the dead letters: the facts that a verdict is made of. */
import type { AttemptRecord, DeferralRecord } from "../delivery/attempt-record.ts";
import type { UrlAnswer } from "./verdict.ts";

/** A dead letter, as far as a verdict needs it. */
export interface LetterFact {
  readonly deadAtMs: number;
  readonly reason: string;
  readonly reasonClass: string;
  /** Attempts made. */
  readonly attempts: number;
  readonly replayId: string | null;
  readonly lastAttempt: readonly UrlAnswer[];
  /** `partition:offset`; null for one that was purged. */
  readonly place: string | null;
}

/** All of one event for one destination, in any order. */
export interface DeliveryFacts<Letter extends LetterFact = LetterFact> {
  readonly attempts: readonly AttemptRecord[];
  readonly deferrals: readonly DeferralRecord[];
  readonly letters: readonly Letter[];
}

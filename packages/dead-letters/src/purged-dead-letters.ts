/** The dead letters that purges took, as readers of dead letters need to know them. */
import type { DeadLetterFacts } from "@posthaste/core/replay/dead-letter-filter";

export interface PurgedDeadLetters {
  /** False while there was no purge: no dead letter needs the test then. */
  readonly hasPurges: boolean;
  /** The test for dead letters that a purge names. */
  purged(): (deadLetter: DeadLetterFacts) => boolean;
}

/**
 * How many dead letters of a destination a caller may see: those that are open, and those that were delivered since.
 *
 * Owns: the counts that were made one by one, each kept while the index's counts are the same, for `KEEP_MS` at
 * the most.
 */
import type { DeadLetterSums } from "@posthaste/read-model/dead-letter-hours";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { VisibleDeadLetters } from "./visible-dead-letters.ts";

/** How long a count is kept, in ms: the dead letters suppressed or purged since are left out of the next one. */
const KEEP_MS = 30_000;

interface CountedOnce {
  readonly held: string;
  readonly atMs: number;
  readonly sums: DeadLetterSums;
}

export interface DestinationDeadLettersParts {
  readonly readModel: Pick<ReadModel, "deadLetterTotals">;
  readonly deadLetters: Pick<VisibleDeadLetters, "sums" | "hidesSome">;
  readonly nowMs: () => number;
}

export class DestinationDeadLetters {
  readonly #parts: DestinationDeadLettersParts;
  readonly #counted = new Map<string, CountedOnce>();

  constructor(parts: DestinationDeadLettersParts) {
    this.#parts = parts;
  }

  /**
   * The counts without the dead letters of suppressed users and without purged ones. Rejects with a Problem, see
   * ReadModel.
   */
  async count(destinationId: string): Promise<DeadLetterSums> {
    const { readModel, deadLetters, nowMs } = this.#parts;
    if (!deadLetters.hidesSome) return deadLetters.sums(destinationId);
    const held = JSON.stringify(await readModel.deadLetterTotals(destinationId));
    const before = this.#counted.get(destinationId);
    if (before !== undefined && before.held === held && nowMs() - before.atMs < KEEP_MS) return before.sums;
    const sums = await deadLetters.sums(destinationId);
    this.#counted.set(destinationId, { held, atMs: nowMs(), sums });
    return sums;
  }
}

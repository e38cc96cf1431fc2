/**
 * How many dead letters of a destination a caller may see: those that are open, and those that were delivered since.
 *
 * Owns: the counts that were made letter by letter, each kept while the index's counts are the same, for `KEEP_MS` at
 * the most.
 */
import type { LetterSums } from "../read-model/letter-hours.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import type { VisibleLetters } from "./visible-letters.ts";

/** How long a count is kept, in ms: the letters suppressed or purged since are left out of the next one. */
const KEEP_MS = 30_000;

interface CountedOnce {
  readonly held: string;
  readonly atMs: number;
  readonly sums: LetterSums;
}

export interface DestinationLettersParts {
  readonly readModel: Pick<ReadModel, "letterTotals">;
  readonly letters: Pick<VisibleLetters, "sums" | "hidesSome">;
  readonly nowMs: () => number;
}

export class DestinationLetters {
  readonly #parts: DestinationLettersParts;
  readonly #counted = new Map<string, CountedOnce>();

  constructor(parts: DestinationLettersParts) {
    this.#parts = parts;
  }

  /**
   * The counts without the letters of suppressed users and without purged ones. Rejects with a Problem, see ReadModel.
   */
  async count(destinationId: string): Promise<LetterSums> {
    const { readModel, letters, nowMs } = this.#parts;
    if (!letters.hidesSome) return letters.sums(destinationId);
    const held = JSON.stringify(await readModel.letterTotals(destinationId));
    const before = this.#counted.get(destinationId);
    if (before !== undefined && before.held === held && nowMs() - before.atMs < KEEP_MS) return before.sums;
    const sums = await letters.sums(destinationId);
    this.#counted.set(destinationId, { held, atMs: nowMs(), sums });
    return sums;
  }
}

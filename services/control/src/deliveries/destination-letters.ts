/**
 * How many dead letters of a destination a caller may see.
 *
 * Owns: the counts that were made letter by letter, each kept while the index's count is the same, for `KEEP_MS` at the
 * most.
 */
import type { ReadModel } from "../read-model/read-model.ts";
import type { VisibleLetters } from "./visible-letters.ts";

/** How long a count is kept, in ms: the letters suppressed or purged since are left out of the next one. */
const KEEP_MS = 30_000;
/** The most reasons counted of a destination: far more than there are. */
const MOST_KINDS = 100;

interface CountedOnce {
  readonly held: string;
  readonly atMs: number;
  readonly count: number;
}

export interface DestinationLettersParts {
  readonly readModel: Pick<ReadModel, "counts">;
  readonly letters: Pick<VisibleLetters, "counts" | "hidesSome">;
  readonly nowMs: () => number;
}

export class DestinationLetters {
  readonly #parts: DestinationLettersParts;
  readonly #counted = new Map<string, CountedOnce>();

  constructor(parts: DestinationLettersParts) {
    this.#parts = parts;
  }

  /**
   * The count without the letters of suppressed users and without purged ones. Rejects with a Problem, see ReadModel.
   */
  async count(destinationId: string): Promise<number> {
    const { readModel, letters, nowMs } = this.#parts;
    const counts = await readModel.counts("dead_letters", { destinationId, limit: MOST_KINDS });
    const all = sumOf(counts);
    if (all === 0 || !letters.hidesSome) return all;
    const held = JSON.stringify(counts);
    const before = this.#counted.get(destinationId);
    if (before !== undefined && before.held === held && nowMs() - before.atMs < KEEP_MS) return before.count;
    const shown = await letters.counts({ filter: { destinationId }, limit: MOST_KINDS });
    const count = sumOf(shown.counts);
    this.#counted.set(destinationId, { held, atMs: nowMs(), count });
    return count;
  }
}

function sumOf(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

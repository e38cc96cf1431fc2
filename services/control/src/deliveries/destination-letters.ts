/**
 * How many dead letters of a destination may be seen.
 *
 * Owns: what was counted one by one, for as long as the index counts the same and `KEEP_MS` have not passed.
 */
import type { ReadModel } from "../read-model/read-model.ts";
import type { VisibleLetters } from "./visible-letters.ts";

/** What is suppressed or purged meanwhile is left out by then. */
const KEEP_MS = 30_000;
/** Reasons of dead letters are far fewer. */
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

  /** Those of suppressed users and those that were purged are left out. Throws a Problem, see ReadModel. */
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

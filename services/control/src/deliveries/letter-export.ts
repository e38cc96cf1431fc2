/**
 * Dead letters out of their topic, for a data engineer: one with its body, or all that fit, as they are read.
 *
 * Owns nothing: what is read belongs to the request, and ends with it.
 */
import type { SuppressedUsers } from "@posthaste/core/deletion/suppression";
import { type LetterFilter, letterCheck } from "@posthaste/core/replay/letter-filter";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { Problem } from "../http/problem.ts";
import {
  type FoundLetter,
  isLetterSuppressed,
  type LetterReaderOptions,
  readLetter,
  readLetters,
} from "../replays/letter-reader.ts";
import type { PastPlans } from "../replays/plan-letters.ts";
import { createRowFormat, type ExportFormat } from "./row-formats.ts";

/** For one record. */
const READ_MS = 10_000;

export interface LetterExportOptions extends LetterReaderOptions {
  readonly suppressed: SuppressedUsers;
  readonly past: Pick<PastPlans, "purged">;
}

interface Asked {
  readonly filter: LetterFilter;
  readonly format: ExportFormat;
  readonly signal: AbortSignal;
}

export class LetterExport {
  readonly #options: LetterExportOptions;

  constructor(options: LetterExportOptions) {
    this.#options = options;
  }

  /** Throws the Problem `not_found` where none stands that may be seen. */
  async one(place: string, signal: AbortSignal): Promise<FoundLetter> {
    const { connection, topic } = this.#options;
    const [partition = -1, offset = -1] = /^\d{1,9}:\d{1,15}$/.test(place) ? place.split(":").map(Number) : [];
    const range = (await topicOffsets(connection, topic)).find((each) => each.partition === partition);
    if (range === undefined || offset < range.start || offset >= range.end) throw noSuchLetter(place);
    const reading = { timeoutMs: READ_MS, signal: AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]) };
    const found = await readLetter(this.#options, { partition, offset }, reading);
    if (found === null || !this.#mayBeSeen()(found)) throw noSuchLetter(place);
    return found;
  }

  /**
   * All that fit and stand in the topic when it is asked for, a partition after the other; nothing of it is held.
   * Resolves when it is known what that is.
   */
  async begin(filter: LetterFilter, format: ExportFormat, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const { connection, topic } = this.#options;
    const ranges = await topicOffsets(connection, topic);
    return this.#chunks(ranges, { filter, format, signal });
  }

  async *#chunks(ranges: readonly PlannedRange[], { filter, format, signal }: Asked): AsyncGenerator<Uint8Array> {
    const rows = createRowFormat(format);
    const fits = letterCheck(filter);
    yield rows.begin();
    for (const range of ranges) {
      for await (const { letters } of readLetters(this.#options, range, signal)) {
        // Asked for each time: what is purged meanwhile is seen no more.
        const mayBeSeen = this.#mayBeSeen();
        const chunk = rows.add(letters.filter((found) => fits(found.facts) && mayBeSeen(found)));
        if (chunk.length > 0) yield chunk;
      }
    }
    yield rows.end();
  }

  /** What was dropped for a suppression is seen: it holds nothing of the user. */
  #mayBeSeen(): (found: FoundLetter) => boolean {
    const { suppressed, past } = this.#options;
    const isPurged = past.purged();
    return (found) => {
      if (isPurged(found.facts)) return false;
      return found.letter.reason === "suppressed" || !isLetterSuppressed(suppressed, found);
    };
  }
}

function noSuchLetter(place: string): Problem {
  return new Problem("not_found", `there is no dead letter at ${place}: a place is partition:offset, as lists have it`);
}

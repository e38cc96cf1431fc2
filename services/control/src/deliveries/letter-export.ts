/**
 * Reads dead letters from their topic, for a data engineer: one with its body, or all that fit, sent while they are
 * read.
 *
 * Owns the exports' turns; a reading belongs to its request and ends with it.
 */
import { setTimeout as delay } from "node:timers/promises";
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
import { ExportTurns } from "./export-turns.ts";
import { createRowFormat, type ExportFormat } from "./row-formats.ts";

/** The ms that reading one record may take. */
const READ_MS = 10_000;

export interface LetterExportOptions extends LetterReaderOptions {
  readonly suppressed: SuppressedUsers;
  readonly past: Pick<PastPlans, "purged">;
}

/** The letters that fit a filter and that an export leaves out. */
export interface LettersLeftOut {
  readonly suppressed: number;
  readonly purged: number;
}

export interface BegunExport {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The letters left out so far; complete once the chunks have ended. */
  readonly leftOut: LettersLeftOut;
}

interface Asked {
  readonly filter: LetterFilter;
  readonly format: ExportFormat;
  readonly signal: AbortSignal;
  readonly leftOut: { -readonly [Why in keyof LettersLeftOut]: number };
}

export class LetterExport {
  readonly #options: LetterExportOptions;
  readonly #turns = new ExportTurns({ monotonicMs: () => performance.now(), delay });

  constructor(options: LetterExportOptions) {
    this.#options = options;
  }

  /** Rejects with the Problem `not_found` where no letter stands at the place that the caller may see. */
  async one(place: string, signal: AbortSignal): Promise<FoundLetter> {
    const { connection, topic } = this.#options;
    const [partition = -1, offset = -1] = /^\d{1,9}:\d{1,15}$/.test(place) ? place.split(":").map(Number) : [];
    const range = (await topicOffsets(connection, topic)).find((each) => each.partition === partition);
    if (range === undefined || offset < range.start || offset >= range.end) throw noSuchLetter(place);
    const reading = { timeoutMs: READ_MS, signal: AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]) };
    const found = await readLetter(this.#options, { partition, offset }, reading);
    if (found === null || this.#hiding()(found) !== null) throw noSuchLetter(place);
    return found;
  }

  /**
   * Begins an export of all letters that fit and stand in the topic at the call, one partition after the other; it
   * holds none of them. Resolves once the ranges to read are known.
   */
  async begin(filter: LetterFilter, format: ExportFormat, signal: AbortSignal): Promise<BegunExport> {
    const { connection, topic } = this.#options;
    const ranges = await topicOffsets(connection, topic);
    const leftOut = { suppressed: 0, purged: 0 };
    return { chunks: this.#chunks(ranges, { filter, format, signal, leftOut }), leftOut };
  }

  async *#chunks(ranges: readonly PlannedRange[], asked: Asked): AsyncGenerator<Uint8Array> {
    const { filter, format, signal, leftOut } = asked;
    const rows = createRowFormat(format);
    const fits = letterCheck(filter);
    yield rows.begin();
    for (const range of ranges) {
      for await (const { letters } of readLetters(this.#options, range, signal)) {
        const chunk = await this.#turns.take(() => {
          // Asked for at each step, so that the export leaves out what is purged meanwhile.
          const hiding = this.#hiding();
          const seen = letters.filter((found) => {
            if (!fits(found.facts)) return false;
            const why = hiding(found);
            if (why !== null) leftOut[why] += 1;
            return why === null;
          });
          return rows.add(seen);
        });
        if (chunk.length > 0) yield chunk;
      }
    }
    yield rows.end();
  }

  /**
   * Why a caller may not see a letter, else null. A letter that delivery dropped for a suppression may be seen: it
   * holds nothing of the user.
   */
  #hiding(): (found: FoundLetter) => keyof LettersLeftOut | null {
    const { suppressed, past } = this.#options;
    const isPurged = past.purged();
    return (found) => {
      if (isPurged(found.facts)) return "purged";
      return found.letter.reason !== "suppressed" && isLetterSuppressed(suppressed, found) ? "suppressed" : null;
    };
  }
}

function noSuchLetter(place: string): Problem {
  return new Problem("not_found", `there is no dead letter at ${place}: a place is partition:offset, as lists have it`);
}

/**
 * Reads dead letters from their topic, for a data engineer: one with its body, or all that fit, sent while they are
 * read.
 *
 * Owns the exports' turns, and the question where the topic ends; a reading belongs to its request and ends with it.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { SuppressedUsers } from "@posthaste/core/deletion/suppression";
import { type DeadLetterFilter, deadLetterCheck } from "@posthaste/core/replay/dead-letter-filter";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import {
  type DeadLetterReaderOptions,
  type FoundDeadLetter,
  isDeadLetterSuppressed,
  readDeadLetter,
  readDeadLetters,
} from "@posthaste/dead-letters/dead-letter-reader";
import type { PurgedDeadLetters } from "@posthaste/dead-letters/purged-dead-letters";
import { Problem } from "@posthaste/http-kit/problem";
import { type PartitionOffsets, topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { SharedAnswer } from "@posthaste/runtime/shared-answer";
import { ExportTurns } from "./export-turns.ts";
import { createRowFormat, type ExportFormat } from "./row-formats.ts";

/** The ms that reading one record may take. */
const READ_MS = 10_000;

export interface DeadLetterExportOptions extends DeadLetterReaderOptions {
  readonly suppressed: SuppressedUsers;
  readonly past: Pick<PurgedDeadLetters, "purged">;
}

/** The dead letters that fit a filter and that an export leaves out. */
export interface SkippedDeadLetters {
  readonly suppressed: number;
  readonly purged: number;
}

export interface BegunExport {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The dead letters skipped so far; complete once the chunks have ended. */
  readonly leftOut: SkippedDeadLetters;
}

interface Asked {
  readonly filter: DeadLetterFilter;
  readonly format: ExportFormat;
  readonly signal: AbortSignal;
  readonly leftOut: { -readonly [Why in keyof SkippedDeadLetters]: number };
}

export class DeadLetterExport {
  readonly #options: DeadLetterExportOptions;
  readonly #turns = new ExportTurns({ monotonicMs: () => performance.now(), delay });

  /** The brokers are asked for all who begin at a time: for exports that are left at once it was most of their cost. */
  readonly #offsets: SharedAnswer<readonly PartitionOffsets[]>;

  constructor(options: DeadLetterExportOptions) {
    this.#options = options;
    this.#offsets = new SharedAnswer({ make: () => topicOffsets(options.connection, options.topic) });
  }

  /** Rejects with the Problem `not_found` where no letter stands at the place that the caller may see. */
  async one(place: string, signal: AbortSignal): Promise<FoundDeadLetter> {
    const [partition = -1, offset = -1] = /^\d{1,9}:\d{1,15}$/.test(place) ? place.split(":").map(Number) : [];
    const range = (await this.#offsets.ask()).find((each) => each.partition === partition);
    if (range === undefined || offset < range.start || offset >= range.end) throw noSuchDeadLetter(place);
    const reading = { timeoutMs: READ_MS, signal: AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]) };
    const found = await readDeadLetter(this.#options, { partition, offset }, reading);
    if (found === null || this.#hiding()(found) !== null) throw noSuchDeadLetter(place);
    return found;
  }

  /**
   * Begins an export of all dead letters that fit and stand in the topic at the call, one partition after the other; it
   * holds none of them. Resolves once the ranges to read are known.
   */
  async begin(filter: DeadLetterFilter, format: ExportFormat, signal: AbortSignal): Promise<BegunExport> {
    const ranges = await this.#offsets.ask();
    const leftOut = { suppressed: 0, purged: 0 };
    return { chunks: this.#chunks(ranges, { filter, format, signal, leftOut }), leftOut };
  }

  async *#chunks(ranges: readonly PlannedRange[], asked: Asked): AsyncGenerator<Uint8Array> {
    const { filter, format, signal, leftOut } = asked;
    const rows = createRowFormat(format);
    const fits = deadLetterCheck(filter);
    yield rows.begin();
    for (const range of ranges) {
      for await (const { deadLetters } of readDeadLetters(this.#options, range, signal)) {
        const chunk = await this.#turns.take(() => {
          // Asked for at each step, so that the export leaves out dead letters that are purged meanwhile.
          const hiding = this.#hiding();
          const seen = deadLetters.filter((found) => {
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
    yield await this.#turns.take(() => rows.end());
  }

  /**
   * Why a caller may not see a dead letter, else null. A dead letter that delivery dropped for a suppression may be
   * seen: it holds nothing of the user.
   */
  #hiding(): (found: FoundDeadLetter) => keyof SkippedDeadLetters | null {
    const { suppressed, past } = this.#options;
    const isPurged = past.purged();
    return (found) => {
      if (isPurged(found.facts)) return "purged";
      return found.deadLetter.reason !== "suppressed" && isDeadLetterSuppressed(suppressed, found)
        ? "suppressed"
        : null;
    };
  }
}

function noSuchDeadLetter(place: string): Problem {
  return new Problem("not_found", `there is no dead letter at ${place}: a place is partition:offset, as lists have it`);
}

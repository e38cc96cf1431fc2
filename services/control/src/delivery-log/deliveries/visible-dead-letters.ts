/**
 * Dead letters as a caller may see them. Dead letters of suppressed users and purged ones are hidden and counted. A
 * dead letter that delivery dropped for a suppression (reason `suppressed`) may be seen, since it holds nothing of the
 * user; it cannot be sent again.
 *
 * Owns nothing: at every question it asks the read model and the tables of suppressed users and purges, so that a new
 * suppression hides dead letters at once, and the end of one shows them again.
 */
import type { SettleRule } from "@posthaste/core/config/destination";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Freshness } from "@posthaste/core/freshness";
import {
  type DeadLetterFacts,
  type DeadLetterFilter,
  deadLetterCheck,
} from "@posthaste/core/replay/dead-letter-filter";
import type { PurgedDeadLetters } from "@posthaste/dead-letters/purged-dead-letters";
import { factsFromEntry } from "@posthaste/read-model/dead-letter-entry";
import type { DeadLetterHour, DeadLetterSums } from "@posthaste/read-model/dead-letter-hours";
import { type DeadLetterState, deadLetterState } from "@posthaste/read-model/dead-letter-mark";
import { deadLetterTexts, isEntrySuppressed, type SuppressedDigests } from "@posthaste/read-model/entry-texts";
import type { CountedKind, KindCount } from "@posthaste/read-model/projection";
import type {
  ProjectionCursor,
  ProjectionEntry,
  ProjectionFilter,
  ProjectionQuery,
} from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { type FilteredPage, filteredPage } from "./filtered-page.ts";

const PROJECTION = "dead_letters";
/** The entries that are looked through at a time, where some may be hidden or may not fit. */
const STEP = 2000;

/** How many dead letters fit and are hidden. */
export interface Hidden {
  readonly suppressed: number;
  readonly purged: number;
}

export interface DeadLetterQuery {
  readonly filter: DeadLetterFilter;
  /** True for the open ones alone. */
  readonly isOpen?: boolean | undefined;
  readonly limit: number;
  readonly after?: ProjectionCursor | undefined;
}

/** As DeadLetterHour, by the present setting of the destination. */
export interface VisibleHour extends Omit<DeadLetterHour, "sums">, DeadLetterSums {}

/** The setting of a destination; `any` for one that was removed. */
export type SettleOf = (destinationId: string) => SettleRule;

export interface DeadLetterPage extends FilteredPage {
  /** The hidden dead letters among them. */
  readonly leftOut: Hidden;
}

export interface DeadLettersOfMessage {
  readonly entries: readonly ProjectionEntry[];
  /** The dead letters that were purged, of users that are not suppressed. */
  readonly purged: readonly ProjectionEntry[];
  /** The dead letters of suppressed users, of which no answer may tell more than that they are there. */
  readonly suppressed: readonly ProjectionEntry[];
}

export interface DeadLetterCountQuery {
  readonly filter: DeadLetterFilter;
  readonly limit: number;
  readonly after?: CountedKind | undefined;
}

export interface DeadLetterCounts {
  readonly counts: readonly KindCount[];
  /** The hidden dead letters of the destinations and reasons that this page counts. */
  readonly leftOut: Hidden;
  /** Where the next page begins; null on the last. */
  readonly next: CountedKind | null;
}

type ListedBy = "at" | "search" | "newest" | "counts" | "deadLetterHours" | "deadLetterTotals" | "freshness";

export interface VisibleDeadLettersParts {
  readonly readModel: Pick<ReadModel, ListedBy>;
  readonly suppressed: SuppressedDigests;
  readonly past: PurgedDeadLetters;
  readonly settleOf: SettleOf;
}

type Verdict = "shown" | "suppressed" | "purged" | "other";

export class VisibleDeadLetters {
  readonly #readModel: VisibleDeadLettersParts["readModel"];
  readonly #suppressed: SuppressedDigests;
  readonly #past: PurgedDeadLetters;
  readonly #settleOf: SettleOf;

  constructor({ readModel, suppressed, past, settleOf }: VisibleDeadLettersParts) {
    this.#readModel = readModel;
    this.#suppressed = suppressed;
    this.#past = past;
    this.#settleOf = settleOf;
  }

  /**
   * The state of a dead letter (LM1 and LM2 of dead-letter-mark.ts), as far as it was known when its entry was read.
   */
  stateOf({ destinationId, mark = 0 }: Pick<ProjectionEntry, "destinationId" | "mark">): DeadLetterState {
    return deadLetterState(mark, this.#settleOf(destinationId));
  }

  /** The same of the dead letter at a place; null where the read model does not hold it, or cannot be asked now. */
  async stateAt(
    deadLetter: Pick<DeadLetterFacts, "deadAtMs" | "partition" | "offset">,
  ): Promise<DeadLetterState | null> {
    const { deadAtMs: timeMs, partition, offset } = deadLetter;
    const places = [{ timeMs, partition, offset, place: 0 }];
    const [entry] = await this.#readModel.at(PROJECTION, places).catch((reason: unknown) => {
      if (isPosthasteError(reason, "delivery_log_unavailable")) return [];
      throw reason;
    });
    return entry === undefined ? null : this.stateOf(entry);
  }

  /** True where some dead letter may be hidden. */
  get hidesSome(): boolean {
    return this.#judgeOf({}) !== null;
  }

  /** See ReadModel. */
  get freshness(): Freshness {
    return this.#readModel.freshness(PROJECTION);
  }

  async page({ filter, isOpen = false, limit, after }: DeadLetterQuery): Promise<DeadLetterPage> {
    const judge = this.#judgeOf(filter);
    const leftOut = { suppressed: 0, purged: 0 };
    const shows = (entry: ProjectionEntry): boolean => {
      if (isOpen && this.stateOf(entry) !== "open") return false;
      const verdict = judge?.(entry) ?? "shown";
      if (verdict !== "shown" && verdict !== "other") leftOut[verdict] += 1;
      return verdict === "shown";
    };
    const texts = deadLetterTexts(filter);
    const looksAtEach = judge !== null || isOpen;
    const asked = { filter: indexed(filter), texts, limit, after, shows: looksAtEach ? shows : null };
    return { ...(await filteredPage(this.#readModel, PROJECTION, asked)), leftOut };
  }

  /**
   * The dead letters of one message id, of all destinations or of some, newest first, `limit` at the most. A caller who
   * asks for a dead letter by its message id is told that it was purged.
   */
  async ofMessage(
    asked: Pick<ProjectionQuery, "messageId" | "destinationIds" | "limit">,
  ): Promise<DeadLettersOfMessage> {
    const judge = this.#judgeOf({});
    const [entries, purged, suppressed]: [ProjectionEntry[], ProjectionEntry[], ProjectionEntry[]] = [[], [], []];
    for (const entry of await this.#readModel.newest(PROJECTION, asked)) {
      const verdict = judge?.(entry) ?? "shown";
      // A purged dead letter may be a suppressed user's too.
      if (verdict === "suppressed" || this.#isSuppressed(entry)) suppressed.push(entry);
      else if (verdict === "purged") purged.push(entry);
      else entries.push(entry);
    }
    return { entries, purged, suppressed };
  }

  /** True for a dead letter that just came, fits, and may be seen. */
  shows(filter: DeadLetterFilter): (entry: ProjectionEntry) => boolean {
    const judge = this.#judgeOf(filter);
    const { destinationId, reason } = filter;
    return (entry) =>
      (destinationId ?? entry.destinationId) === entry.destinationId &&
      (reason ?? entry.kind) === entry.kind &&
      (judge?.(entry) ?? "shown") === "shown";
  }

  /** The counts by destination and reason; 0 where every dead letter of the two is hidden. */
  async counts({ filter, limit, after }: DeadLetterCountQuery): Promise<DeadLetterCounts> {
    // One count more than asked for tells whether there is another page.
    const counted = await this.#readModel.counts(PROJECTION, { ...indexed(filter), limit: limit + 1, after });
    const shown = counted.slice(0, limit);
    const next = counted.length > shown.length ? (shown.at(-1) ?? null) : null;
    const leftOut = { suppressed: 0, purged: 0 };
    if (this.#judgeOf(filter) === null) return { counts: shown, leftOut, next };
    const counts: KindCount[] = [];
    for (const { destinationId, kind } of shown) {
      let count = 0;
      for await (const [verdict] of this.#all({ ...filter, destinationId, reason: reasonOf(kind) })) {
        if (verdict === "shown") count += 1;
        else if (verdict !== "other") leftOut[verdict] += 1;
      }
      counts.push({ destinationId, kind, count });
    }
    return { counts, leftOut, next };
  }

  /** The counts by cause and hour; null where the dead letters have to be counted one by one. */
  async hours(filter: DeadLetterFilter): Promise<readonly VisibleHour[] | null> {
    const { destinationId, reason: kind, sinceMs, untilMs } = filter;
    if (sinceMs !== undefined || untilMs !== undefined || this.#judgeOf(filter) !== null) return null;
    const hours = await this.#readModel.deadLetterHours({ destinationId, kind });
    return hours.map(({ sums, ...hour }) => ({ ...hour, ...sums[this.#settleOf(hour.destinationId)] }));
  }

  /** Counts a destination's dead letters, those of suppressed users left out; one by one where some may be hidden. */
  async sums(destinationId: string): Promise<DeadLetterSums> {
    if (!this.hidesSome) {
      const { sums } = await this.#readModel.deadLetterTotals(destinationId);
      return sums[this.#settleOf(destinationId)];
    }
    const counts = { open: 0, deliveredSince: 0, diedAgain: 0 };
    for await (const entry of this.shown({ destinationId })) {
      if (entry.kind !== "suppressed") counts[this.stateOf(entry)] += 1;
    }
    return { open: counts.open, deliveredSince: counts.deliveredSince };
  }

  /** Every dead letter that fits and may be seen, newest first, for groups that no index has counted. */
  async *shown(filter: DeadLetterFilter): AsyncGenerator<ProjectionEntry> {
    for await (const [verdict, entry] of this.#all(filter)) if (verdict === "shown") yield entry;
  }

  async *#all(filter: DeadLetterFilter): AsyncGenerator<readonly [Verdict, ProjectionEntry]> {
    const judge = this.#judgeOf(filter);
    let after: ProjectionCursor | undefined;
    for (;;) {
      const found = await this.#readModel.newest(PROJECTION, { ...indexed(filter), limit: STEP, after });
      for (const entry of found) yield [judge?.(entry) ?? "shown", entry];
      after = found.at(-1);
      if (found.length < STEP) return;
    }
  }

  /** Returns the judge of entries; null where every entry that the index finds may be seen. */
  #judgeOf(filter: DeadLetterFilter): ((entry: ProjectionEntry) => Verdict) | null {
    const { destinationId: _, reason: __, sinceMs: ___, untilMs: ____, ...others } = filter;
    const isNarrowed = Object.values(others).some((value) => value !== undefined);
    const { hasPurges } = this.#past;
    if (!isNarrowed && !hasPurges && this.#suppressed.size === 0) return null;
    const fits = deadLetterCheck(others);
    const isPurged: (deadLetter: DeadLetterFacts) => boolean = hasPurges ? this.#past.purged() : () => false;
    return (entry) => {
      const facts = isNarrowed || hasPurges ? factsFromEntry(entry) : null;
      if (facts !== null && !fits(facts)) return "other";
      if (facts !== null && isPurged(facts)) return "purged";
      return this.#isSuppressed(entry) ? "suppressed" : "shown";
    };
  }

  #isSuppressed(entry: ProjectionEntry): boolean {
    return entry.kind !== "suppressed" && isEntrySuppressed(this.#suppressed, entry);
  }
}

/** The filters that the projection applies by itself. */
function indexed({ destinationId, reason, sinceMs, untilMs }: DeadLetterFilter): ProjectionFilter {
  return { destinationId, kind: reason, sinceMs, untilMs };
}

/** A projection's kinds of dead letters are their reasons. */
function reasonOf(kind: string): DeadLetterFilter["reason"] {
  return kind as DeadLetterFilter["reason"];
}

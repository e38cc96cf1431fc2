/**
 * Dead letters as a caller may see them: without those of suppressed users and without purged ones, which it counts. A
 * letter that delivery dropped for a suppression (reason `suppressed`) may be seen, since it holds nothing of the user;
 * it cannot be sent again.
 *
 * Owns nothing: at every question it asks the read model and the tables of suppressed users and purges, so that a new
 * suppression hides letters at once, and the end of one shows them again.
 */
import type { SettleRule } from "@posthaste/core/config/destination";
import { type LetterFacts, type LetterFilter, letterCheck } from "@posthaste/core/replay/letter-filter";
import type { Freshness } from "../http/freshness.ts";
import { Problem } from "../http/problem.ts";
import { factsFromEntry } from "../read-model/dead-letter-entry.ts";
import { letterTexts } from "../read-model/entry-texts.ts";
import type { CountedKind, KindCount } from "../read-model/journal.ts";
import type { JournalCursor } from "../read-model/journal-cursor.ts";
import type { JournalEntry, JournalFilter, JournalQuery } from "../read-model/journal-entry.ts";
import type { LetterHour, LetterSums } from "../read-model/letter-hours.ts";
import { type LetterState, letterState } from "../read-model/letter-mark.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import type { PastPlans } from "../replays/plan-letters.ts";
import { isEntrySuppressed, type SuppressedDigests } from "../suppressions/listed-users.ts";
import { type FilteredPage, filteredPage } from "./filtered-page.ts";

const JOURNAL = "dead_letters";
/** The entries that are looked through at a time, where some may be hidden or may not fit. */
const STEP = 2000;

/** How many letters fit and are hidden. */
export interface Hidden {
  readonly suppressed: number;
  readonly purged: number;
}

export interface LetterQuery {
  readonly filter: LetterFilter;
  /** True for the open ones alone. */
  readonly isOpen?: boolean | undefined;
  readonly limit: number;
  readonly after?: JournalCursor | undefined;
}

/** As LetterHour, by the present setting of the destination. */
export interface VisibleHour extends Omit<LetterHour, "sums">, LetterSums {}

/** The setting of a destination; `any` for one that was removed. */
export type SettleOf = (destinationId: string) => SettleRule;

export interface LetterPage extends FilteredPage {
  /** The hidden letters among them. */
  readonly leftOut: Hidden;
}

export interface LettersOfMessage {
  readonly entries: readonly JournalEntry[];
  /** The letters that were purged, of users that are not suppressed. */
  readonly purged: readonly JournalEntry[];
  /** The letters of suppressed users, of which no answer may tell more than that they are there. */
  readonly suppressed: readonly JournalEntry[];
}

export interface LetterCountQuery {
  readonly filter: LetterFilter;
  readonly limit: number;
  readonly after?: CountedKind | undefined;
}

export interface LetterCounts {
  readonly counts: readonly KindCount[];
  /** The hidden letters of the destinations and reasons that this page counts. */
  readonly leftOut: Hidden;
  /** Where the next page begins; null on the last. */
  readonly next: CountedKind | null;
}

type ListedBy = "at" | "search" | "newest" | "counts" | "letterHours" | "letterTotals" | "freshness";

export interface VisibleLettersParts {
  readonly readModel: Pick<ReadModel, ListedBy>;
  readonly suppressed: SuppressedDigests;
  readonly past: Pick<PastPlans, "purged" | "hasPurges">;
  readonly settleOf: SettleOf;
}

type Verdict = "shown" | "suppressed" | "purged" | "other";

export class VisibleLetters {
  readonly #readModel: VisibleLettersParts["readModel"];
  readonly #suppressed: SuppressedDigests;
  readonly #past: Pick<PastPlans, "purged" | "hasPurges">;
  readonly #settleOf: SettleOf;

  constructor({ readModel, suppressed, past, settleOf }: VisibleLettersParts) {
    this.#readModel = readModel;
    this.#suppressed = suppressed;
    this.#past = past;
    this.#settleOf = settleOf;
  }

  /** What became of a letter (LM1 and LM2 of letter-mark.ts), as far as that was known when its entry was read. */
  stateOf({ destinationId, mark = 0 }: Pick<JournalEntry, "destinationId" | "mark">): LetterState {
    return letterState(mark, this.#settleOf(destinationId));
  }

  /** The same of the letter at a place; null where the read model does not hold it, or cannot be asked now. */
  async stateAt(letter: Pick<LetterFacts, "deadAtMs" | "partition" | "offset">): Promise<LetterState | null> {
    const { deadAtMs: timeMs, partition, offset } = letter;
    const places = [{ timeMs, partition, offset, place: 0 }];
    const [entry] = await this.#readModel.at(JOURNAL, places).catch((reason: unknown) => {
      if (reason instanceof Problem) return [];
      throw reason;
    });
    return entry === undefined ? null : this.stateOf(entry);
  }

  /** True where some letter may be hidden. */
  get hidesSome(): boolean {
    return this.#judgeOf({}) !== null;
  }

  /** See ReadModel. */
  get freshness(): Freshness {
    return this.#readModel.freshness(JOURNAL);
  }

  async page({ filter, isOpen = false, limit, after }: LetterQuery): Promise<LetterPage> {
    const judge = this.#judgeOf(filter);
    const leftOut = { suppressed: 0, purged: 0 };
    const shows = (entry: JournalEntry): boolean => {
      if (isOpen && this.stateOf(entry) !== "open") return false;
      const verdict = judge?.(entry) ?? "shown";
      if (verdict !== "shown" && verdict !== "other") leftOut[verdict] += 1;
      return verdict === "shown";
    };
    const texts = letterTexts(filter);
    const looksAtEach = judge !== null || isOpen;
    const asked = { filter: indexed(filter), texts, limit, after, shows: looksAtEach ? shows : null };
    return { ...(await filteredPage(this.#readModel, JOURNAL, asked)), leftOut };
  }

  /**
   * The letters of one message id, of all destinations or of some, newest first, `limit` at the most. A caller who asks
   * for a letter by its message id is told that it was purged.
   */
  async ofMessage(asked: Pick<JournalQuery, "messageId" | "destinationIds" | "limit">): Promise<LettersOfMessage> {
    const judge = this.#judgeOf({});
    const [entries, purged, suppressed]: [JournalEntry[], JournalEntry[], JournalEntry[]] = [[], [], []];
    for (const entry of await this.#readModel.newest(JOURNAL, asked)) {
      const verdict = judge?.(entry) ?? "shown";
      // A purged letter may be a suppressed user's too.
      if (verdict === "suppressed" || this.#isSuppressed(entry)) suppressed.push(entry);
      else if (verdict === "purged") purged.push(entry);
      else entries.push(entry);
    }
    return { entries, purged, suppressed };
  }

  /** True for a letter that just came, fits, and may be seen. */
  shows(filter: LetterFilter): (entry: JournalEntry) => boolean {
    const judge = this.#judgeOf(filter);
    const { destinationId, reason } = filter;
    return (entry) =>
      (destinationId ?? entry.destinationId) === entry.destinationId &&
      (reason ?? entry.kind) === entry.kind &&
      (judge?.(entry) ?? "shown") === "shown";
  }

  /** The counts by destination and reason; 0 where every letter of the two is hidden. */
  async counts({ filter, limit, after }: LetterCountQuery): Promise<LetterCounts> {
    // One count more than asked for tells whether there is another page.
    const counted = await this.#readModel.counts(JOURNAL, { ...indexed(filter), limit: limit + 1, after });
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

  /** The counts by cause and hour; null where the letters have to be counted one by one. */
  async hours(filter: LetterFilter): Promise<readonly VisibleHour[] | null> {
    const { destinationId, reason: kind, sinceMs, untilMs } = filter;
    if (sinceMs !== undefined || untilMs !== undefined || this.#judgeOf(filter) !== null) return null;
    const hours = await this.#readModel.letterHours({ destinationId, kind });
    return hours.map(({ sums, ...hour }) => ({ ...hour, ...sums[this.#settleOf(hour.destinationId)] }));
  }

  /** Counts a destination's letters; one by one where some may be hidden. */
  async sums(destinationId: string): Promise<LetterSums> {
    if (!this.hidesSome) {
      const { sums } = await this.#readModel.letterTotals(destinationId);
      return sums[this.#settleOf(destinationId)];
    }
    const counts = { open: 0, deliveredSince: 0, diedAgain: 0 };
    for await (const entry of this.shown({ destinationId })) counts[this.stateOf(entry)] += 1;
    return { open: counts.open, deliveredSince: counts.deliveredSince };
  }

  /** Every letter that fits and may be seen, newest first, for groups that no index has counted. */
  async *shown(filter: LetterFilter): AsyncGenerator<JournalEntry> {
    for await (const [verdict, entry] of this.#all(filter)) if (verdict === "shown") yield entry;
  }

  async *#all(filter: LetterFilter): AsyncGenerator<readonly [Verdict, JournalEntry]> {
    const judge = this.#judgeOf(filter);
    let after: JournalCursor | undefined;
    for (;;) {
      const found = await this.#readModel.newest(JOURNAL, { ...indexed(filter), limit: STEP, after });
      for (const entry of found) yield [judge?.(entry) ?? "shown", entry];
      after = found.at(-1);
      if (found.length < STEP) return;
    }
  }

  /** Decides what becomes of an entry; null where every entry that the index finds may be seen. */
  #judgeOf(filter: LetterFilter): ((entry: JournalEntry) => Verdict) | null {
    const { destinationId: _, reason: __, sinceMs: ___, untilMs: ____, ...others } = filter;
    const isNarrowed = Object.values(others).some((value) => value !== undefined);
    const { hasPurges } = this.#past;
    if (!isNarrowed && !hasPurges && this.#suppressed.size === 0) return null;
    const fits = letterCheck(others);
    const isPurged: (letter: LetterFacts) => boolean = hasPurges ? this.#past.purged() : () => false;
    return (entry) => {
      const facts = isNarrowed || hasPurges ? factsFromEntry(entry) : null;
      if (facts !== null && !fits(facts)) return "other";
      if (facts !== null && isPurged(facts)) return "purged";
      return this.#isSuppressed(entry) ? "suppressed" : "shown";
    };
  }

  #isSuppressed(entry: JournalEntry): boolean {
    return entry.kind !== "suppressed" && isEntrySuppressed(this.#suppressed, entry);
  }
}

/** The filters that the journal applies by itself. */
function indexed({ destinationId, reason, sinceMs, untilMs }: LetterFilter): JournalFilter {
  return { destinationId, kind: reason, sinceMs, untilMs };
}

/** A journal's kinds of dead letters are their reasons. */
function reasonOf(kind: string): LetterFilter["reason"] {
  return kind as LetterFilter["reason"];
}

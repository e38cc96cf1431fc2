/**
 * Dead letters as they may be seen: those of suppressed users are left out and counted. What was dropped for a
 * suppression (reason `suppressed`) is seen, since it holds nothing of the user; it cannot be sent again.
 *
 * Owns nothing: it asks the read model, and the table of suppressed users at every question, so that what is suppressed
 * is left out from then on and what is no more is seen again.
 */
import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import type { SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import type { CountedKind, CountQuery, JournalEntry, JournalFilter, KindCount } from "../read-model/journal.ts";
import type { JournalCursor } from "../read-model/journal-cursor.ts";
import type { ReadModel } from "../read-model/read-model.ts";

const JOURNAL = "dead_letters";
/** Entries that are looked through at a time where some may have to be left out. */
const STEP = 2000;
/** For one page; what is left out beyond that ends the page early. */
const MAX_STEPS = 50;

export interface LetterQuery extends JournalFilter {
  readonly limit: number;
  readonly after?: JournalCursor | undefined;
}

export interface LetterPage {
  /** Newest first. */
  readonly entries: readonly JournalEntry[];
  /** Those among them that are not shown. */
  readonly leftOut: number;
  /** Where the next page begins; null on the last. */
  readonly next: JournalCursor | null;
}

export interface LetterCounts {
  readonly counts: readonly KindCount[];
  /** Those of suppressed users, of the destinations and reasons that were counted. */
  readonly leftOut: number;
  /** Where the next page begins; null on the last. */
  readonly next: CountedKind | null;
}

export class VisibleLetters {
  readonly #readModel: ReadModel;
  readonly #suppressed: Pick<SuppressedUsersTable, "size" | "hasDigest">;

  constructor(readModel: ReadModel, suppressed: Pick<SuppressedUsersTable, "size" | "hasDigest">) {
    this.#readModel = readModel;
    this.#suppressed = suppressed;
  }

  /** See ReadModel. */
  get isComplete(): boolean {
    return this.#readModel.isComplete(JOURNAL);
  }

  async page({ limit, after, ...filter }: LetterQuery): Promise<LetterPage> {
    const entries: JournalEntry[] = [];
    let leftOut = 0;
    let last: JournalCursor | undefined = after;
    const size = this.#suppressed.size === 0 ? limit + 1 : Math.max(limit + 1, STEP);
    for (let step = 0; step < MAX_STEPS; step++) {
      const found = await this.#readModel.newest(JOURNAL, { ...filter, limit: size, after: last });
      for (const entry of found) {
        if (this.#isLeftOut(entry)) leftOut += 1;
        else if (entries.length === limit) return { entries, leftOut, next: last ?? null };
        else entries.push(entry);
        last = entry;
      }
      if (found.length < size) return { entries, leftOut, next: null };
    }
    return { entries, leftOut, next: last ?? null };
  }

  /** A destination and reason of which all are left out has a count of 0. */
  async counts(query: CountQuery): Promise<LetterCounts> {
    // One more than is asked for tells whether there is another page.
    const counted = await this.#readModel.counts(JOURNAL, { ...query, limit: query.limit + 1 });
    const shown = counted.slice(0, query.limit);
    const next = counted.length > shown.length ? (shown.at(-1) ?? null) : null;
    if (this.#suppressed.size === 0) return { counts: shown, leftOut: 0, next };
    let leftOut = 0;
    const counts: KindCount[] = [];
    for (const each of shown) {
      const { destinationId, kind } = each;
      const hidden = await this.#countLeftOut({ ...query, destinationId, kind });
      leftOut += hidden;
      counts.push({ ...each, count: Math.max(0, each.count - hidden) });
    }
    return { counts, leftOut, next };
  }

  /** Looks through every entry of a destination and reason: what nobody holds cannot be counted otherwise. */
  async #countLeftOut({ destinationId, kind, sinceMs, untilMs }: JournalFilter): Promise<number> {
    let leftOut = 0;
    let after: JournalCursor | undefined;
    for (;;) {
      const filter = { destinationId, kind, sinceMs, untilMs };
      const found = await this.#readModel.newest(JOURNAL, { ...filter, limit: STEP, after });
      leftOut += found.filter((entry) => this.#isLeftOut(entry)).length;
      after = found.at(-1);
      if (found.length < STEP) return leftOut;
    }
  }

  #isLeftOut({ kind, users }: JournalEntry): boolean {
    if (this.#suppressed.size === 0 || kind === "suppressed") return false;
    for (let from = 0; from < users.length; from += DIGEST_LENGTH) {
      if (this.#suppressed.hasDigest(users.slice(from, from + DIGEST_LENGTH))) return true;
    }
    return false;
  }
}

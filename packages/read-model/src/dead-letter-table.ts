/**
 * The projection of dead letters, with counts by cause and hour: of all, of the open ones, of those delivered since.
 *
 * Owns: that projection, the counts (`dead-letter-hours.ts`) and the rows (`dead-letter-rows.ts`), in its caller's
 * database.
 * LC1  Every dead letter that the projection shows is counted once, whatever comes again, is dropped, or has become too
 *      old.
 * LC2  The cost of a question depends on the number of groups and hours, not of dead letters, except for the held dead
 *      letters of the oldest shown hour, which is shown in part: they are looked at one by one.
 * LC3  Each dead letter is counted by its state (LM1 to LM3 of dead-letter-mark.ts). Attempts and dead letters may be
 *      read in either order. The count stays when the projections drop the entries that it came from.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { replayedFrom } from "./dead-letter-entry.ts";
import {
  type DeadLetterHour,
  type DeadLetterHourQuery,
  DeadLetterHours,
  type DeadLetterTotals,
} from "./dead-letter-hours.ts";
import { DELIVERED_BITS, deliveredBits, diedAgainBits, SENT_LONG_AGO } from "./dead-letter-mark.ts";
import { DeadLetterRowTable } from "./dead-letter-rows.ts";
import { GroupCounter } from "./group-counts.ts";
import { Projection, type ProjectionOptions } from "./projection.ts";
import type { ProjectionCursor, ProjectionEntry } from "./projection-entry.ts";
import { toEntry } from "./projection-sql.ts";

/** A dead letter delivered since is not read again: its row is marked too (NR2 of dead-letter-rows.ts). */
const DIED_BEFORE = `time <= ? AND destination_id = ? AND (mark & ${DELIVERED_BITS}) <> ${DELIVERED_BITS}`;

export interface DeadLetterTableOptions extends Omit<ProjectionOptions, "onDropped"> {
  /** The held attempts of the dead letter's message and destination that began no sooner than the dead letter died. */
  readonly attemptsSince: (deadLetter: ProjectionEntry) => readonly ProjectionEntry[];
}

export class DeadLetterTable {
  readonly #options: DeadLetterTableOptions;
  readonly #hours: DeadLetterHours;
  readonly #setMark: StatementSync;
  readonly projection: Projection;
  readonly rows: DeadLetterRowTable;
  readonly groups: GroupCounter;

  constructor(database: DatabaseSync, options: DeadLetterTableOptions) {
    this.#options = options;
    const { name } = options;
    this.projection = new Projection(database, { ...options, onDropped: (entry) => this.#uncount(entry) });
    this.#hours = new DeadLetterHours(database, options);
    this.rows = new DeadLetterRowTable(database);
    this.groups = new GroupCounter(database, name);
    this.#setMark = database.prepare(
      `UPDATE ${name} SET mark = ? WHERE (time, log_partition, log_offset, place) = (?, ?, ?, ?)`,
    );
  }

  /** LC1, LC3. */
  add(entries: readonly ProjectionEntry[]): void {
    for (const entry of entries) {
      const since = this.#options.attemptsSince(entry);
      const mark = deliveredBits(entry, since) | diedAgainBits(entry, this.projection.since(entry));
      if (!this.projection.insert({ ...entry, mark })) continue;
      this.#hours.add(entry, mark);
      this.rows.add(entry, since.length > 0);
      this.#noteAgain(entry);
    }
    this.projection.trim(entries.length);
  }

  /**
   * LC3, and NR2 of dead-letter-rows.ts: updates the states of the dead letters that these attempts followed.
   */
  noteAttempts(attempts: readonly ProjectionEntry[]): void {
    if (this.projection.size === 0) return;
    for (const attempt of attempts) {
      for (const deadLetter of this.#before(attempt)) {
        this.rows.mark(deadLetter);
        this.#note(deadLetter, this.#bitsOf(deadLetter, attempt));
      }
    }
  }

  /**
   * LM3 of dead-letter-mark.ts: notes of these dead letters, as far as they are held, that a replay sent them long ago.
   */
  noteSent(places: readonly ProjectionCursor[]): void {
    for (const deadLetter of this.projection.at(places)) this.#note(deadLetter, SENT_LONG_AGO);
  }

  /** LC2: the counts by group, without dead letters that are too old to be shown. */
  hours(query: DeadLetterHourQuery): readonly DeadLetterHour[] {
    return this.#hours.hours(query);
  }

  /** LC2: the counts of a destination. */
  totals(destinationId: string): DeadLetterTotals {
    return this.#hours.totals(destinationId);
  }

  /** The held dead letters of the same message and destination that died no later and of which more may be noted. */
  #before({ messageId, timeMs, destinationId }: ProjectionEntry): readonly ProjectionEntry[] {
    return this.projection.messages.rows("*", messageId, DIED_BEFORE, timeMs, destinationId).map(toEntry);
  }

  #bitsOf(deadLetter: ProjectionEntry, attempt: ProjectionEntry): number {
    const alone = deliveredBits(deadLetter, [attempt]);
    // The URLs that did not take this attempt may have taken others.
    return alone === DELIVERED_BITS
      ? alone
      : deliveredBits(deadLetter, [attempt, ...this.#options.attemptsSince(deadLetter)]);
  }

  /** Notes at the dead letters before this one that it says of one that it died again. */
  #noteAgain(deadLetter: ProjectionEntry): void {
    if (replayedFrom(deadLetter) === null) return;
    for (const other of this.#before(deadLetter)) this.#note(other, diedAgainBits(other, [deadLetter]));
  }

  #note(deadLetter: ProjectionEntry, bits: number): void {
    const before = deadLetter.mark ?? 0;
    const mark = before | bits;
    if (mark === before) return;
    const { timeMs, partition, offset, place } = deadLetter;
    this.#setMark.run(mark, timeMs, partition, offset, place);
    this.#hours.change(deadLetter, before, mark);
  }

  #uncount(entry: ProjectionEntry): void {
    this.#hours.remove(entry, entry.mark ?? 0);
    this.rows.remove(entry);
  }
}

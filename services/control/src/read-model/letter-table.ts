/**
 * The journal of dead letters, with counts by cause and hour: of all, of the open ones, of those delivered since.
 *
 * Owns: that journal, the counts (`letter-hours.ts`) and the rows (`letter-rows.ts`), in its caller's database.
 * LC1  Every letter that the journal shows is counted once, whatever comes again, is dropped, or has become too old.
 * LC2  The cost of a question depends on the number of groups and hours, not of letters, except for the held letters of
 *      the oldest shown hour, which is shown in part: they are looked at one by one.
 * LC3  Each letter is counted as what became of it (LM1 to LM3 of letter-mark.ts), whichever of attempts and letters
 *      is read first, and also once the journals have dropped what said so.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { AlikeCounter } from "./alike-counts.ts";
import { replayedFrom } from "./dead-letter-entry.ts";
import { Journal, type JournalOptions } from "./journal.ts";
import type { JournalCursor } from "./journal-cursor.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { toEntry } from "./journal-sql.ts";
import { type LetterHour, type LetterHourQuery, LetterHours, type LetterTotals } from "./letter-hours.ts";
import { DELIVERED_BITS, deliveredBits, diedAgainBits, SENT_LONG_AGO } from "./letter-mark.ts";
import { LetterRowTable } from "./letter-rows.ts";

export interface LetterTableOptions extends Omit<JournalOptions, "onDropped"> {
  /** The held attempts of the letter's message and destination that began no sooner than the letter died. */
  readonly attemptsSince: (letter: JournalEntry) => readonly JournalEntry[];
}

export class LetterTable {
  readonly #options: LetterTableOptions;
  readonly #hours: LetterHours;
  readonly #diedBefore: StatementSync;
  readonly #setMark: StatementSync;
  readonly journal: Journal;
  readonly rows: LetterRowTable;
  readonly alike: AlikeCounter;

  constructor(database: DatabaseSync, options: LetterTableOptions) {
    this.#options = options;
    const { name } = options;
    this.journal = new Journal(database, { ...options, onDropped: (entry) => this.#uncount(entry) });
    this.#hours = new LetterHours(database, options);
    this.rows = new LetterRowTable(database);
    this.alike = new AlikeCounter(database, name);
    // What was delivered since is looked at no more: its row is marked too (NR2 of letter-rows.ts).
    this.#diedBefore = database.prepare(`
      SELECT * FROM ${name} INDEXED BY ${name}_by_message
      WHERE message_id = ? AND time <= ? AND destination_id = ? AND (mark & ${DELIVERED_BITS}) <> ${DELIVERED_BITS}`);
    this.#setMark = database.prepare(
      `UPDATE ${name} SET mark = ? WHERE (time, log_partition, log_offset, place) = (?, ?, ?, ?)`,
    );
  }

  /** LC1, LC3. */
  add(entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      const since = this.#options.attemptsSince(entry);
      const mark = deliveredBits(entry, since) | diedAgainBits(entry, this.journal.since(entry));
      if (!this.journal.insert({ ...entry, mark })) continue;
      this.#hours.add(entry, mark);
      this.rows.add(entry, since.length > 0);
      this.#noteAgain(entry);
    }
    this.journal.trim(entries.length);
  }

  /** LC3, and NR2 of letter-rows.ts: notes at the letters that these attempts followed what became of them. */
  noteAttempts(attempts: readonly JournalEntry[]): void {
    if (this.journal.size === 0) return;
    for (const attempt of attempts) {
      for (const letter of this.#before(attempt)) {
        this.rows.mark(letter);
        this.#note(letter, this.#bitsOf(letter, attempt));
      }
    }
  }

  /** LM3 of letter-mark.ts: notes of these letters, as far as they are held, that a replay sent them long ago. */
  noteSent(places: readonly JournalCursor[]): void {
    for (const letter of this.journal.at(places)) this.#note(letter, SENT_LONG_AGO);
  }

  /** LC2: the counts by group, without letters that are too old to be shown. */
  hours(query: LetterHourQuery): readonly LetterHour[] {
    return this.#hours.hours(query);
  }

  /** LC2: the counts of a destination. */
  totals(destinationId: string): LetterTotals {
    return this.#hours.totals(destinationId);
  }

  /** The held letters of the same message and destination that died no later and of which more may be noted. */
  #before({ messageId, timeMs, destinationId }: JournalEntry): readonly JournalEntry[] {
    return this.#diedBefore.all(messageId, timeMs, destinationId).map(toEntry);
  }

  #bitsOf(letter: JournalEntry, attempt: JournalEntry): number {
    const alone = deliveredBits(letter, [attempt]);
    // The URLs that did not take this attempt may have taken others.
    return alone === DELIVERED_BITS ? alone : deliveredBits(letter, [attempt, ...this.#options.attemptsSince(letter)]);
  }

  /** Notes at the letters before this one that it says of one that it died again. */
  #noteAgain(letter: JournalEntry): void {
    if (replayedFrom(letter) === null) return;
    for (const other of this.#before(letter)) this.#note(other, diedAgainBits(other, [letter]));
  }

  #note(letter: JournalEntry, bits: number): void {
    const before = letter.mark ?? 0;
    const mark = before | bits;
    if (mark === before) return;
    const { timeMs, partition, offset, place } = letter;
    this.#setMark.run(mark, timeMs, partition, offset, place);
    this.#hours.change(letter, before, mark);
  }

  #uncount(entry: JournalEntry): void {
    this.#hours.remove(entry, entry.mark ?? 0);
    this.rows.remove(entry);
  }
}

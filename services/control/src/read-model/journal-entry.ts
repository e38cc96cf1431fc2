/** What a journal holds, and how it is asked for it. */
import type { JournalCursor } from "./journal-cursor.ts";

export interface JournalEntry extends JournalCursor {
  readonly destinationId: string;
  /** What entries are told apart by: an attempt's outcome, a dead letter's reason. */
  readonly kind: string;
  readonly messageId: string;
  /** Everything else, as JSON. */
  readonly detail: string;
  /** Whom it is about, as the digests of their suppression keys one after the other; empty where that is not noted. */
  readonly users: string;
}

export interface JournalFilter {
  readonly destinationId?: string | undefined;
  readonly kind?: string | undefined;
  readonly messageId?: string | undefined;
  /** Not before this moment, ms since the epoch. */
  readonly sinceMs?: number | undefined;
  /** Before this moment, ms since the epoch. */
  readonly untilMs?: number | undefined;
}

export interface JournalQuery extends JournalFilter {
  readonly limit: number;
  /** Only what stands behind this in the list. */
  readonly after?: JournalCursor | undefined;
}

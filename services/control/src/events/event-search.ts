/**
 * Searches events by their user and their name, newest first, in three journals: of deliveries, of events that led to
 * none, and of rejected calls.
 *
 * A page takes the newest events of all three. Where one journal was searched only up to a moment, the page shows
 * nothing older of the others either, so that the list has no gaps; each journal goes on from its own cursor.
 */
import { shortName } from "@posthaste/core/routing/short-name";
import { filteredPage } from "../deliveries/filtered-page.ts";
import { filteredOf } from "../deliveries/latest-view.ts";
import { refusedCursor } from "../http/list-cursor.ts";
import { deliveryFromEntry } from "../read-model/delivery-entry.ts";
import { quoted } from "../read-model/entry-texts.ts";
import type { JournalCursor } from "../read-model/journal-cursor.ts";
import type { JournalEntry } from "../read-model/journal-entry.ts";
import { decodeCursor, encodeCursor } from "../read-model/page-cursor.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import { rejectedCallFromEntry } from "../read-model/rejected-call-entry.ts";
import { unroutedFromEntry } from "../read-model/unrouted-entry.ts";
import type { SuppressedKeyCheck } from "../suppressions/suppressed-key.ts";

export const SEARCHED_JOURNALS = ["deliveries", "unrouted", "rejected_calls"] as const;
type SearchedJournal = (typeof SEARCHED_JOURNALS)[number];

/**
 * Where each journal goes on: null for a journal that has no more, undefined for one where the search has not begun.
 */
type Cursors = Readonly<Record<SearchedJournal, JournalCursor | null | undefined>>;

export interface EventSearch {
  readonly userId?: string | undefined;
  /** The event's name. */
  readonly event?: string | undefined;
  readonly sourceId?: string | undefined;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly limit: number;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** True for suppressed users, whose events the search leaves out. */
  readonly isSuppressed: SuppressedKeyCheck;
}

export interface FoundEvent {
  readonly sourceId: string;
  readonly messageId: string;
}

export interface FoundEvents {
  /** Each event once, ordered by its newest entry, newest first. */
  readonly events: readonly FoundEvent[];
  readonly nextCursor: string | null;
  /** The moment up to which the search went, where it ended early; null for any other. */
  readonly searchedToMs: number | null;
}

interface Named extends FoundEvent {
  readonly userKey: string | null;
  readonly event: string | null;
}

const NAMED_BY: Readonly<Record<SearchedJournal, (entry: JournalEntry) => Named>> = {
  deliveries: (entry) => ({ ...filteredOf(deliveryFromEntry(entry)), messageId: entry.messageId }),
  unrouted: unroutedFromEntry,
  rejected_calls: (entry) => ({ ...rejectedCallFromEntry(entry), messageId: entry.messageId }),
};

/** Rejects with a Problem for a text that is no cursor, and while the read model cannot be asked. */
export async function searchEvents(readModel: Pick<ReadModel, "search">, asked: EventSearch): Promise<FoundEvents> {
  const cursors = cursorsFrom(asked.cursor);
  const pages = await Promise.all(SEARCHED_JOURNALS.map((journal) => pageOf(readModel, { journal, cursors, asked })));
  const early = pages.flatMap(({ searchedToMs }) => (searchedToMs === null ? [] : [searchedToMs]));
  const horizonMs = early.length === 0 ? null : Math.max(...early);
  const all = pages.flatMap(({ journal, entries }) => entries.map((entry) => ({ journal, entry })));
  all.sort((a, b) => b.entry.timeMs - a.entry.timeMs);
  const events = new Map<string, FoundEvent>();
  const taken = new Set<JournalEntry>();
  for (const { journal, entry } of all) {
    if (horizonMs !== null && entry.timeMs < horizonMs) break;
    const { sourceId, messageId } = NAMED_BY[journal](entry);
    const name = JSON.stringify([sourceId, messageId]);
    if (!events.has(name) && events.size === asked.limit) break;
    events.set(name, { sourceId, messageId });
    taken.add(entry);
  }
  const next = Object.fromEntries(pages.map((page) => [page.journal, nextOf(page, taken, cursors)])) as Cursors;
  return {
    events: [...events.values()],
    nextCursor: encodeCursors(next),
    searchedToMs: events.size < asked.limit ? horizonMs : null,
  };
}

interface SearchedPage {
  readonly journal: SearchedJournal;
  readonly entries: readonly JournalEntry[];
  readonly next: JournalCursor | null;
  readonly searchedToMs: number | null;
}

interface AskedPage {
  readonly journal: SearchedJournal;
  readonly cursors: Cursors;
  readonly asked: EventSearch;
}

async function pageOf(
  readModel: Pick<ReadModel, "search">,
  { journal, cursors, asked }: AskedPage,
): Promise<SearchedPage> {
  const after = cursors[journal];
  if (after === null) return { journal, entries: [], next: null, searchedToMs: null };
  const { sinceMs, untilMs, limit } = asked;
  const shows = checkOf(asked, NAMED_BY[journal]);
  const texts = textsOf(asked);
  const page = await filteredPage(readModel, journal, { filter: { sinceMs, untilMs }, texts, limit, after, shows });
  return { journal, ...page };
}

/** The texts that each entry of the search holds. The logs hold long names shortened. */
function textsOf({ userId, event, sourceId }: EventSearch): readonly string[] {
  const [userKey, name] = [userId, event].map((text) => (text === undefined ? undefined : shortName(text)));
  return quoted([userKey, name, sourceId]);
}

function checkOf(
  { userId, event, sourceId, isSuppressed }: EventSearch,
  namedBy: (entry: JournalEntry) => Named,
): (entry: JournalEntry) => boolean {
  // The logs hold long names shortened.
  const userKey = userId === undefined ? undefined : shortName(userId);
  const name = event === undefined ? undefined : shortName(event);
  return (entry) => {
    if (entry.messageId === "") return false;
    const found = namedBy(entry);
    return (
      (userKey === undefined || found.userKey === userKey) &&
      (name === undefined || found.event === name) &&
      (sourceId === undefined || found.sourceId === sourceId) &&
      !isSuppressed(found.sourceId, found.userKey)
    );
  };
}

function nextOf(
  { journal, entries, next }: SearchedPage,
  taken: ReadonlySet<JournalEntry>,
  cursors: Cursors,
): JournalCursor | null | undefined {
  if (entries.every((entry) => taken.has(entry))) return next;
  return entries.findLast((entry) => taken.has(entry)) ?? cursors[journal];
}

/** The cursor as a text; null where no journal has more. */
function encodeCursors(cursors: Cursors): string | null {
  const texts = SEARCHED_JOURNALS.map((journal) => {
    const cursor = cursors[journal];
    if (cursor === undefined) return "-";
    return cursor === null ? "" : encodeCursor(cursor);
  });
  return texts.every((text) => text === "") ? null : texts.join("~");
}

function cursorsFrom(cursor: string | undefined): Cursors {
  const texts = cursor?.split("~") ?? SEARCHED_JOURNALS.map(() => "-");
  if (texts.length !== SEARCHED_JOURNALS.length) throw refusedCursor();
  const read = (text: string) => (text === "-" ? undefined : text === "" ? null : decodeCursor(text));
  return Object.fromEntries(SEARCHED_JOURNALS.map((journal, index) => [journal, read(texts[index] ?? "")])) as Cursors;
}

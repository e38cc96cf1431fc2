/**
 * Searches events by their user and their name, newest first, in three projections: of deliveries, of events that led
 * to none, and of rejected calls.
 *
 * A page takes the newest events of all three. Where one projection was searched only up to a moment, the page shows
 * nothing older of the others either, so that the list has no gaps; each projection goes on from its own cursor.
 */
import { shortName } from "@posthaste/core/routing/short-name";
import type { SuppressedKeyCheck } from "@posthaste/deletions/suppressed-key";
import { refusedCursor } from "@posthaste/http-kit/list-cursor";
import { deliveryFromEntry } from "@posthaste/read-model/delivery-entry";
import { quoted } from "@posthaste/read-model/entry-texts";
import type { ProjectionCursor, ProjectionEntry } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { rejectedCallFromEntry } from "@posthaste/read-model/rejected-call-entry";
import { unroutedFromEntry } from "@posthaste/read-model/unrouted-entry";
import { filteredPage } from "../deliveries/filtered-page.ts";
import { filteredOf } from "../deliveries/latest-view.ts";
import { decodeCursor, encodeCursor } from "../deliveries/page-cursor.ts";

export const SEARCHED_PROJECTIONS = ["deliveries", "unrouted", "rejected_calls"] as const;
type SearchedProjection = (typeof SEARCHED_PROJECTIONS)[number];

/**
 * Where each projection goes on: null for a projection that has no more, undefined for one where the search has not
 * begun.
 */
type Cursors = Readonly<Record<SearchedProjection, ProjectionCursor | null | undefined>>;

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

const NAMED_BY: Readonly<Record<SearchedProjection, (entry: ProjectionEntry) => Named>> = {
  deliveries: (entry) => ({ ...filteredOf(deliveryFromEntry(entry)), messageId: entry.messageId }),
  unrouted: unroutedFromEntry,
  rejected_calls: (entry) => ({ ...rejectedCallFromEntry(entry), messageId: entry.messageId }),
};

/** Rejects with a Problem for a text that is no cursor, and while the read model cannot be asked. */
export async function searchEvents(readModel: Pick<ReadModel, "search">, asked: EventSearch): Promise<FoundEvents> {
  const cursors = cursorsFrom(asked.cursor);
  const pages = await Promise.all(
    SEARCHED_PROJECTIONS.map((projection) => pageOf(readModel, { projection, cursors, asked })),
  );
  const early = pages.flatMap(({ searchedToMs }) => (searchedToMs === null ? [] : [searchedToMs]));
  const horizonMs = early.length === 0 ? null : Math.max(...early);
  const all = pages.flatMap(({ projection, entries }) => entries.map((entry) => ({ projection, entry })));
  all.sort((a, b) => b.entry.timeMs - a.entry.timeMs);
  const events = new Map<string, FoundEvent>();
  const taken = new Set<ProjectionEntry>();
  for (const { projection, entry } of all) {
    if (horizonMs !== null && entry.timeMs < horizonMs) break;
    const { sourceId, messageId } = NAMED_BY[projection](entry);
    const name = JSON.stringify([sourceId, messageId]);
    if (!events.has(name) && events.size === asked.limit) break;
    events.set(name, { sourceId, messageId });
    taken.add(entry);
  }
  const next = Object.fromEntries(pages.map((page) => [page.projection, nextOf(page, taken, cursors)])) as Cursors;
  return {
    events: [...events.values()],
    nextCursor: encodeCursors(next),
    searchedToMs: events.size < asked.limit ? horizonMs : null,
  };
}

interface SearchedPage {
  readonly projection: SearchedProjection;
  readonly entries: readonly ProjectionEntry[];
  readonly next: ProjectionCursor | null;
  readonly searchedToMs: number | null;
}

interface AskedPage {
  readonly projection: SearchedProjection;
  readonly cursors: Cursors;
  readonly asked: EventSearch;
}

async function pageOf(
  readModel: Pick<ReadModel, "search">,
  { projection, cursors, asked }: AskedPage,
): Promise<SearchedPage> {
  const after = cursors[projection];
  if (after === null) return { projection, entries: [], next: null, searchedToMs: null };
  const { sinceMs, untilMs, limit } = asked;
  const shows = checkOf(asked, NAMED_BY[projection]);
  const texts = textsOf(asked);
  const page = await filteredPage(readModel, projection, { filter: { sinceMs, untilMs }, texts, limit, after, shows });
  return { projection, ...page };
}

/** The texts that each entry of the search holds. The logs hold long names shortened. */
function textsOf({ userId, event, sourceId }: EventSearch): readonly string[] {
  const [userKey, name] = [userId, event].map((text) => (text === undefined ? undefined : shortName(text)));
  return quoted([userKey, name, sourceId]);
}

function checkOf(
  { userId, event, sourceId, isSuppressed }: EventSearch,
  namedBy: (entry: ProjectionEntry) => Named,
): (entry: ProjectionEntry) => boolean {
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
  { projection, entries, next }: SearchedPage,
  taken: ReadonlySet<ProjectionEntry>,
  cursors: Cursors,
): ProjectionCursor | null | undefined {
  if (entries.every((entry) => taken.has(entry))) return next;
  return entries.findLast((entry) => taken.has(entry)) ?? cursors[projection];
}

/** The cursor as a text; null where no projection has more. */
function encodeCursors(cursors: Cursors): string | null {
  const texts = SEARCHED_PROJECTIONS.map((projection) => {
    const cursor = cursors[projection];
    if (cursor === undefined) return "-";
    return cursor === null ? "" : encodeCursor(cursor);
  });
  return texts.every((text) => text === "") ? null : texts.join("~");
}

function cursorsFrom(cursor: string | undefined): Cursors {
  const texts = cursor?.split("~") ?? SEARCHED_PROJECTIONS.map(() => "-");
  if (texts.length !== SEARCHED_PROJECTIONS.length) throw refusedCursor();
  const read = (text: string) => (text === "-" ? undefined : text === "" ? null : decodeCursor(text));
  return Object.fromEntries(
    SEARCHED_PROJECTIONS.map((projection, index) => [projection, read(texts[index] ?? "")]),
  ) as Cursors;
}

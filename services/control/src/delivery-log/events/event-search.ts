/**
 * Searches events by their user and their name in the order in which they were received, the newest first, in three
 * projections: of deliveries, of events that led to none, and of rejected calls.
 *
 * EL1  An event is one message id of one source. An event that came more than once is listed where it was received
 *      last, and once over all pages.
 * EL2  Where a projection was searched only up to a place, the page shows nothing behind that place.
 * EL3  The cursor names the last event of the page. It also has the newest receipt that the first page knew: an event
 *      that comes again between two pages stays in its place in the list.
 */
import { shortName } from "@posthaste/core/routing/short-name";
import type { SuppressedKeyCheck } from "@posthaste/deletions/suppressed-key";
import { packCursor, unpackCursor } from "@posthaste/http-kit/list-cursor";
import { deliveryFromEntry } from "@posthaste/read-model/delivery-entry";
import { quoted } from "@posthaste/read-model/entry-texts";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { ReceivedEntry } from "@posthaste/read-model/received-events";
import { rejectedCallFromEntry } from "@posthaste/read-model/rejected-call-entry";
import { RECEIVED_PROJECTIONS, type ReceivedProjection } from "@posthaste/read-model/store";
import { unroutedFromEntry } from "@posthaste/read-model/unrouted-entry";
import { filteredOf } from "../deliveries/latest-view.ts";

export const SEARCHED_PROJECTIONS = RECEIVED_PROJECTIONS;
/** The most entries of each projection that are looked through for one page. */
const MAX_LOOKED = 20_000;
const STEP = 500;

export interface EventSearch {
  readonly userId?: string | undefined;
  /** The event's name. */
  readonly event?: string | undefined;
  readonly sourceId?: string | undefined;
  /** When it was received. */
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
  readonly receivedAtMs: number;
}

export interface FoundEvents {
  /** By receipt, newest first (EL1). */
  readonly events: readonly FoundEvent[];
  readonly nextCursor: string | null;
  /** The moment up to which the search went, where it ended early; null for any other. */
  readonly searchedToMs: number | null;
}

interface Cursor extends FoundEvent {
  /** EL3. */
  readonly newestMs: number;
}

type Searched = Pick<ReadModel, "received" | "newestReceipts">;

interface Named extends Pick<FoundEvent, "sourceId"> {
  readonly userKey: string | null;
  readonly event: string | null;
}

const NAMED_BY: Readonly<Record<ReceivedProjection, (entry: ProjectionEntry) => Named>> = {
  deliveries: (entry) => filteredOf(deliveryFromEntry(entry)),
  unrouted: unroutedFromEntry,
  rejected_calls: rejectedCallFromEntry,
};

/** Rejects with a Problem for a text that is no cursor, and while the read model cannot be asked. */
export async function searchEvents(readModel: Searched, asked: EventSearch): Promise<FoundEvents> {
  const after = asked.cursor === undefined ? undefined : decodeCursor(asked.cursor);
  const parts = await Promise.all(SEARCHED_PROJECTIONS.map((name) => partOf(readModel, { name, after, asked })));
  const ends = parts.flatMap(({ end }) => (end === null ? [] : [end]));
  const end = ends.sort(newestFirst).at(0) ?? null;
  const all = parts.flatMap(({ events }) => events).sort(newestFirst);
  const found = new Map(all.toReversed().map((event) => [nameOf(event), event]));
  const listed = [...found.values()].sort(newestFirst).filter((event) => end === null || newestFirst(event, end) <= 0);
  const newestMs = after?.newestMs ?? (listed.at(0) ?? end)?.receivedAtMs ?? 0;
  const page = listed.slice(0, asked.limit);
  const isWhole = page.length === listed.length;
  const last = isWhole ? end : (page.at(-1) ?? null);
  return {
    events: await withoutEarlier(readModel, page, { asked, newestMs }),
    nextCursor: last === null ? null : encodeCursor({ ...last, newestMs }),
    searchedToMs: isWhole && page.length < asked.limit && end !== null ? end.receivedAtMs : null,
  };
}

interface Part {
  readonly events: readonly FoundEvent[];
  /** The event up to which the projection was searched, itself included; null where it has no more (EL2). */
  readonly end: FoundEvent | null;
}

interface AskedPart {
  readonly name: ReceivedProjection;
  readonly after: Cursor | undefined;
  readonly asked: EventSearch;
}

/** The events behind `after` in one projection, more than a page where there are as many. */
async function partOf(readModel: Searched, { name, after, asked }: AskedPart): Promise<Part> {
  const { sinceMs, untilMs, limit } = asked;
  const shows = checkOf(asked, NAMED_BY[name]);
  const texts = textsOf(asked);
  const events = new Map<string, FoundEvent>();
  let last: ReceivedEntry | undefined;
  let before: ReceivedEntry | undefined;
  let size = limit + 1;
  for (let looked = 0; looked < MAX_LOOKED; looked += size, size = STEP) {
    const lookThrough = texts.length === 0 ? size : MAX_LOOKED;
    const place = last === undefined ? { from: after } : { after: last };
    const page = await readModel.received(name, { sinceMs, untilMs, texts, ...place, limit: size, lookThrough });
    for (const entry of page.entries) {
      // The entries of one receipt may be of several sources: all of them count.
      if (before !== undefined && !isSameReceipt(before, entry) && events.size > limit) return partTo(before, events);
      before = entry;
      if (!shows(entry)) continue;
      const { messageId, receivedAtMs } = entry;
      const event = { messageId, receivedAtMs, sourceId: NAMED_BY[name](entry).sourceId };
      const isBehind = after === undefined || newestFirst(event, after) > 0;
      // The first one is the newest of an event that came more than once.
      if (isBehind && !events.has(nameOf(event))) events.set(nameOf(event), event);
    }
    if (page.end === null) return { events: [...events.values()], end: null };
    last = page.end;
    if (texts.length > 0 && page.entries.length < size) break;
  }
  return last === undefined ? { events: [], end: null } : partTo(last, events);
}

/** The whole receipt of the entry counts as searched: no event has more entries than are looked through. */
function partTo({ receivedAtMs, messageId }: ReceivedEntry, events: ReadonlyMap<string, FoundEvent>): Part {
  return { events: [...events.values()], end: { receivedAtMs, messageId, sourceId: "" } };
}

function isSameReceipt(one: ReceivedEntry, other: ReceivedEntry): boolean {
  return one.receivedAtMs === other.receivedAtMs && one.messageId === other.messageId;
}

/** EL1: without the events that were received later again, which stand there. */
async function withoutEarlier(
  readModel: Searched,
  page: readonly FoundEvent[],
  { asked, newestMs }: { readonly asked: EventSearch; readonly newestMs: number },
): Promise<readonly FoundEvent[]> {
  if (page.length === 0) return page;
  const ids = page.map(({ messageId }) => messageId);
  const untilMs = Math.min(asked.untilMs ?? Number.MAX_SAFE_INTEGER, newestMs + 1);
  const texts = textsOf(asked);
  const receipts = await Promise.all(
    SEARCHED_PROJECTIONS.map((name) => readModel.newestReceipts(name, ids, texts, untilMs)),
  );
  const newest = new Map<string, number>();
  for (const each of receipts.flat()) {
    const name = nameOf(each);
    newest.set(name, Math.max(each.receivedAtMs, newest.get(name) ?? 0));
  }
  return page.filter((event) => event.receivedAtMs >= (newest.get(nameOf(event)) ?? 0));
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

/** One text for an event, whenever it was received. */
function nameOf({ sourceId, messageId }: Pick<FoundEvent, "sourceId" | "messageId">): string {
  return JSON.stringify([sourceId, messageId]);
}

/** The order of the list; SQLite compares texts by their bytes. */
function newestFirst(one: FoundEvent, other: FoundEvent): number {
  return (
    other.receivedAtMs - one.receivedAtMs ||
    Buffer.compare(Buffer.from(other.messageId), Buffer.from(one.messageId)) ||
    Buffer.compare(Buffer.from(other.sourceId), Buffer.from(one.sourceId))
  );
}

function encodeCursor({ newestMs, receivedAtMs, sourceId, messageId }: Cursor): string {
  return packCursor(newestMs, receivedAtMs, sourceId, messageId);
}

function decodeCursor(cursor: string): Cursor {
  const shape = /^(\d{1,15}):(\d{1,15}):([^:]*):(.*)$/s;
  const [newestMs, receivedAtMs, sourceId, messageId] = unpackCursor<[string, string, string, string]>(cursor, shape);
  return { newestMs: Number(newestMs), receivedAtMs: Number(receivedAtMs), sourceId, messageId };
}

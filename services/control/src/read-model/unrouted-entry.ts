/** Events that became no delivery as entries of their journal, and back. */
import type { UnroutedEvent, UnroutedEvents } from "@posthaste/core/routing/unrouted-event";
import type { JournalCursor } from "./journal-cursor.ts";
import type { JournalEntry } from "./journal-entry.ts";

/** One event that became no delivery, and whose it was. */
export interface ListedUnrouted extends UnroutedEvent {
  readonly sourceId: string;
  readonly unroutedAtMs: number;
}

type UnroutedDetail = Omit<ListedUnrouted, "unroutedAtMs" | "cause" | "messageId">;

/** What each event of a record becomes; its place is its index in the record. It is of no destination. */
export function unroutedEntries(
  { sourceId, unroutedAtMs, events }: UnroutedEvents,
  { partition, offset }: Pick<JournalCursor, "partition" | "offset">,
): readonly JournalEntry[] {
  return events.map(({ messageId, cause, ...rest }, place) => {
    const detail: UnroutedDetail = { sourceId, ...rest };
    const named = { partition, offset, place, destinationId: "", messageId };
    return { ...named, timeMs: unroutedAtMs, kind: cause, detail: JSON.stringify(detail), users: "" };
  });
}

/** Reads back what `unroutedEntries` made. */
export function unroutedFromEntry({ timeMs, kind, messageId, detail }: JournalEntry): ListedUnrouted {
  const rest = JSON.parse(detail) as UnroutedDetail;
  return { ...rest, messageId, unroutedAtMs: timeMs, cause: kind as ListedUnrouted["cause"] };
}

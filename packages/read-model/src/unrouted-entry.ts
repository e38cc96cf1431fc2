/** Events that led to no delivery as entries of their projection, and back. */
import type { UnroutedEvent, UnroutedEvents } from "@posthaste/core/routing/unrouted-event";
import type { ProjectionCursor, ProjectionEntry } from "./projection-entry.ts";

/** An event that led to no delivery, and its source. */
export interface ListedUnrouted extends UnroutedEvent {
  readonly sourceId: string;
  readonly unroutedAtMs: number;
}

type UnroutedDetail = Omit<ListedUnrouted, "unroutedAtMs" | "cause" | "messageId">;

/** The entries of a record's events; an entry's place is the event's index in the record, and it has no destination. */
export function unroutedEntries(
  { sourceId, unroutedAtMs, events }: UnroutedEvents,
  { partition, offset }: Pick<ProjectionCursor, "partition" | "offset">,
): readonly ProjectionEntry[] {
  return events.map(({ messageId, cause, ...rest }, place) => {
    const detail: UnroutedDetail = { sourceId, ...rest };
    const named = { partition, offset, place, destinationId: "", messageId };
    const entry = { ...named, timeMs: unroutedAtMs, kind: cause, detail: JSON.stringify(detail), users: "" };
    return rest.receivedAtMs === null ? entry : { ...entry, receivedAtMs: rest.receivedAtMs };
  });
}

/** Reads an entry of `unroutedEntries`. */
export function unroutedFromEntry({ timeMs, kind, messageId, detail }: ProjectionEntry): ListedUnrouted {
  const rest = JSON.parse(detail) as UnroutedDetail;
  return { ...rest, messageId, unroutedAtMs: timeMs, cause: kind as ListedUnrouted["cause"] };
}

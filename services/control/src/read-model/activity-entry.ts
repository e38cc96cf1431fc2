/** A source's activity as entries of two journals, and back: the counts, and the requests refused as a whole. */
import type { RefusedRequest, SourceActivity } from "@posthaste/core/call/source-activity";
import type { JournalCursor } from "./journal-cursor.ts";
import type { JournalEntry } from "./journal-entry.ts";

type ActivityPlace = Pick<JournalCursor, "partition" | "offset">;

export const COUNTED_KINDS = ["counted"] as const;

/** A request stands under its first message id, or under none; an entry for each of the others names it again. */
export const REFUSED_KINDS = ["request", "further_id"] as const;

/** More than the message ids of one request. */
const PLACES = 32;

/** What one process counted of one source. */
export type ListedActivity = Omit<SourceActivity, "samples">;

/** A request that was refused as a whole, and whose it was. */
export interface ListedRefusal extends RefusedRequest {
  /** `UNKNOWN_SOURCE_ID` where no source has its key. */
  readonly sourceId: string;
}

type ActivityDetail = Omit<ListedActivity, "sourceId" | "untilMs">;
type RefusalDetail = Omit<ListedRefusal, "sourceId" | "atMs">;

/** The counts of a record; what would be its destination is its source. */
export function activityEntries(
  { sourceId, samples: _, untilMs, ...detail }: SourceActivity,
  { partition, offset }: ActivityPlace,
): readonly JournalEntry[] {
  const told: ActivityDetail = detail;
  const named = { partition, offset, place: 0, destinationId: sourceId, messageId: "", users: "" };
  return [{ ...named, timeMs: untilMs, kind: "counted", detail: JSON.stringify(told) }];
}

export function activityFromEntry({ destinationId, timeMs, detail }: JournalEntry): ListedActivity {
  return { ...(JSON.parse(detail) as ActivityDetail), sourceId: destinationId, untilMs: timeMs };
}

/** The requests of a record; what would be their destination is their source. */
export function refusedRequestEntries(
  { sourceId, samples }: SourceActivity,
  { partition, offset }: ActivityPlace,
): readonly JournalEntry[] {
  return samples.flatMap(({ atMs, ...told }, sample) => {
    const named = { partition, offset, timeMs: atMs, destinationId: sourceId, users: "" };
    const ids = told.messageIds.length === 0 ? [""] : told.messageIds;
    return ids.slice(0, PLACES).map((messageId, index): JournalEntry => {
      // All ids are told once: a request with twenty long ones would be held twenty times over.
      const detail: RefusalDetail = index === 0 ? told : { ...told, messageIds: [messageId] };
      const kind = index === 0 ? "request" : "further_id";
      return { ...named, place: sample * PLACES + index, kind, messageId, detail: JSON.stringify(detail) };
    });
  });
}

/** Of an entry of a further id: with that message id alone. */
export function refusedRequestFromEntry({ destinationId, timeMs, detail }: JournalEntry): ListedRefusal {
  return { ...(JSON.parse(detail) as RefusalDetail), sourceId: destinationId, atMs: timeMs };
}

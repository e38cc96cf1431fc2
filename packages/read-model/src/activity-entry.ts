/** A source's activity as entries of two projections, and back: the counts, and the requests refused as a whole. */
import type { RefusedRequest, SourceActivity } from "@posthaste/core/call/source-activity";
import type { ProjectionCursor, ProjectionEntry } from "./projection-entry.ts";

type ActivityPlace = Pick<ProjectionCursor, "partition" | "offset">;

export const COUNTED_KINDS = ["counted"] as const;

/**
 * A request is an entry under its first message id, or under none; a `further_id` entry for each of its other message
 * ids names it again.
 */
export const REFUSED_KINDS = ["request", "further_id"] as const;

/** The places of one sample's entries: more than one request has message ids. */
const PLACES = 32;

/** The counts that one process made of one source. */
export type ListedActivity = Omit<SourceActivity, "samples">;

/** A request that ingest refused as a whole, and its source. */
export interface ListedRefusal extends RefusedRequest {
  /** `UNKNOWN_SOURCE_ID` where no source has its key. */
  readonly sourceId: string;
}

type ActivityDetail = Omit<ListedActivity, "sourceId" | "untilMs">;
type RefusalDetail = Omit<ListedRefusal, "sourceId" | "atMs">;

/** The counts of a record as entries; an entry's `destinationId` holds the source's id. */
export function activityEntries(
  { sourceId, samples: _, untilMs, ...detail }: SourceActivity,
  { partition, offset }: ActivityPlace,
): readonly ProjectionEntry[] {
  const reported: ActivityDetail = detail;
  const named = { partition, offset, place: 0, destinationId: sourceId, messageId: "", users: "" };
  return [{ ...named, timeMs: untilMs, kind: "counted", detail: JSON.stringify(reported) }];
}

export function activityFromEntry({ destinationId, timeMs, detail }: ProjectionEntry): ListedActivity {
  return { ...(JSON.parse(detail) as ActivityDetail), sourceId: destinationId, untilMs: timeMs };
}

/** The refused requests of a record as entries; an entry's `destinationId` holds the source's id. */
export function refusedRequestEntries(
  { sourceId, samples }: SourceActivity,
  { partition, offset }: ActivityPlace,
): readonly ProjectionEntry[] {
  return samples.flatMap(({ atMs, ...reported }, sample) => {
    const named = { partition, offset, timeMs: atMs, destinationId: sourceId, users: "" };
    const ids = reported.messageIds.length === 0 ? [""] : reported.messageIds;
    return ids.slice(0, PLACES).map((messageId, index): ProjectionEntry => {
      // Only the first entry holds all ids: a request with twenty long ones would be held twenty times over.
      const detail: RefusalDetail = index === 0 ? reported : { ...reported, messageIds: [messageId] };
      const kind = index === 0 ? "request" : "further_id";
      return { ...named, place: sample * PLACES + index, kind, messageId, detail: JSON.stringify(detail) };
    });
  });
}

/** Reads an entry of `refusedRequestEntries`; a `further_id` entry yields the request with that message id alone. */
export function refusedRequestFromEntry({ destinationId, timeMs, detail }: ProjectionEntry): ListedRefusal {
  return { ...(JSON.parse(detail) as RefusalDetail), sourceId: destinationId, atMs: timeMs };
}

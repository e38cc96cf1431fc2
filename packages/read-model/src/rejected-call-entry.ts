/** Rejected calls as entries of their projection, and back: everything but the call itself. */
import type { RejectedCallEntry, RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { ProjectionCursor, ProjectionEntry } from "./projection-entry.ts";

/** A call of its own, a call of a batch, and a call of an earlier release, which does not tell. */
export const REJECTED_KINDS = ["single", "in_batch", "other"] as const;

/** A rejected call and its source. */
export interface ListedRejectedCall extends Omit<RejectedCallEntry, "callJson"> {
  readonly sourceId: string;
}

type RejectedDetail = Omit<ListedRejectedCall, "rejectedAtMs" | "messageId">;

/**
 * The entries of a record's calls; an entry's place is the call's index in the record, and its `destinationId` holds
 * the source's id. A call without a message id cannot be found by one.
 */
export function rejectedCallEntries(
  { sourceId, calls }: RejectedCalls,
  { partition, offset }: Pick<ProjectionCursor, "partition" | "offset">,
): readonly ProjectionEntry[] {
  return calls.map(({ rejectedAtMs, messageId, callJson: _, ...rest }, place) => {
    const detail: RejectedDetail = { sourceId, ...rest };
    const named = { partition, offset, place, destinationId: sourceId, messageId: messageId ?? "" };
    return { ...named, timeMs: rejectedAtMs, kind: kindOf(rest), detail: JSON.stringify(detail), users: "" };
  });
}

/** Reads an entry of `rejectedCallEntries`. */
export function rejectedCallFromEntry({ timeMs, messageId, detail }: ProjectionEntry): ListedRejectedCall {
  const rest = JSON.parse(detail) as RejectedDetail;
  return { ...rest, rejectedAtMs: timeMs, messageId: messageId === "" ? null : messageId };
}

function kindOf({ single }: Pick<RejectedCallEntry, "single">): (typeof REJECTED_KINDS)[number] {
  if (single === null) return "other";
  return single ? "single" : "in_batch";
}

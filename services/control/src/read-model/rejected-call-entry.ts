/** Calls that ingest did not accept as entries of their journal, and back: everything but the call itself. */
import type { RejectedCallEntry, RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { JournalCursor } from "./journal-cursor.ts";
import type { JournalEntry } from "./journal-entry.ts";

/** A call of its own, one of a batch, and one of an earlier release, which does not say. */
export const REJECTED_KINDS = ["single", "in_batch", "other"] as const;

/** One call that was not accepted, and whose it was. */
export interface ListedRejectedCall extends Omit<RejectedCallEntry, "callJson"> {
  readonly sourceId: string;
}

type RejectedDetail = Omit<ListedRejectedCall, "rejectedAtMs" | "messageId">;

/**
 * What each call of a record becomes; its place is its index in it. What would be its destination is its source,
 * and one that said no message id can be found by nobody who looks for one.
 */
export function rejectedCallEntries(
  { sourceId, calls }: RejectedCalls,
  { partition, offset }: Pick<JournalCursor, "partition" | "offset">,
): readonly JournalEntry[] {
  return calls.map(({ rejectedAtMs, messageId, callJson: _, ...rest }, place) => {
    const detail: RejectedDetail = { sourceId, ...rest };
    const named = { partition, offset, place, destinationId: sourceId, messageId: messageId ?? "" };
    return { ...named, timeMs: rejectedAtMs, kind: kindOf(rest), detail: JSON.stringify(detail), users: "" };
  });
}

/** Reads back what `rejectedCallEntries` made. */
export function rejectedCallFromEntry({ timeMs, messageId, detail }: JournalEntry): ListedRejectedCall {
  const rest = JSON.parse(detail) as RejectedDetail;
  return { ...rest, rejectedAtMs: timeMs, messageId: messageId === "" ? null : messageId };
}

function kindOf({ single }: Pick<RejectedCallEntry, "single">): (typeof REJECTED_KINDS)[number] {
  if (single === null) return "other";
  return single ? "single" : "in_batch";
}

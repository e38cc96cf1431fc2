/** Attempts as entries of their journal, and back. */
import type { AttemptBatch, AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import type { JournalEntry } from "./journal.ts";
import type { JournalCursor } from "./journal-cursor.ts";

type AttemptDetail = Pick<AttemptRecord, "sourceId" | "type" | "attempt" | "urls">;

/** What each attempt of a record becomes; its place is its index in the record. */
export function attemptEntries(
  { attempts }: AttemptBatch,
  { partition, offset }: Pick<JournalCursor, "partition" | "offset">,
): readonly JournalEntry[] {
  return attempts.map(({ startedAtMs, destinationId, outcome, messageId, sourceId, type, attempt, urls }, place) => {
    const detail: AttemptDetail = { sourceId, type, attempt, urls };
    const named = { partition, offset, place, destinationId, messageId };
    return { ...named, timeMs: startedAtMs, kind: outcome, detail: JSON.stringify(detail), users: "" };
  });
}

/** Reads back what `attemptEntries` made. */
export function attemptFromEntry({ timeMs, destinationId, kind, messageId, detail }: JournalEntry): AttemptRecord {
  // The journal holds what was put into it.
  const { sourceId, type, attempt, urls } = JSON.parse(detail) as AttemptDetail;
  const outcome = kind as AttemptRecord["outcome"];
  return { messageId, sourceId, destinationId, type, attempt, startedAtMs: timeMs, outcome, urls };
}

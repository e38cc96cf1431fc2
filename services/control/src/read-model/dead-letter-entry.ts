/** Dead letters as entries of their journal, and back: everything but the body, which stays in the topic. */
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { JournalEntry } from "./journal.ts";
import type { JournalCursor } from "./journal-cursor.ts";

type DeadLetterDetail = Pick<
  DeadLetter,
  "sourceId" | "type" | "receivedAtMs" | "attempts" | "deferrals" | "windowStartMs" | "lastAttempt"
>;

/** A dead letter as it is listed. */
export type ListedDeadLetter = DeadLetterDetail &
  Pick<DeadLetter, "messageId" | "destinationId" | "reason" | "deadAtMs">;

export function deadLetterEntries(
  letter: DeadLetter,
  { partition, offset }: Pick<JournalCursor, "partition" | "offset">,
): readonly JournalEntry[] {
  const { sourceId, type, receivedAtMs, attempts, deferrals, windowStartMs, lastAttempt } = letter;
  const detail: DeadLetterDetail = { sourceId, type, receivedAtMs, attempts, deferrals, windowStartMs, lastAttempt };
  const { deadAtMs, destinationId, reason, messageId } = letter;
  const named = { partition, offset, place: 0, destinationId, messageId };
  return [{ ...named, timeMs: deadAtMs, kind: reason, detail: JSON.stringify(detail) }];
}

/** Reads back what `deadLetterEntries` made. */
export function deadLetterFromEntry(entry: JournalEntry): ListedDeadLetter {
  const { timeMs, destinationId, kind, messageId } = entry;
  // The journal holds what was put into it.
  const detail = JSON.parse(entry.detail) as DeadLetterDetail;
  return { ...detail, messageId, destinationId, reason: kind as DeadLetter["reason"], deadAtMs: timeMs };
}

/** Dead letters as entries of their journal, and back: everything but the body, which stays in the topic. */
import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import { suppressionKeysOf } from "@posthaste/core/deletion/suppression";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { suppressionDigest } from "@posthaste/kafka/log/suppressed-users";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { JournalEntry } from "./journal.ts";

type DeadLetterDetail = Pick<
  DeadLetter,
  "sourceId" | "type" | "receivedAtMs" | "attempts" | "deferrals" | "windowStartMs" | "lastAttempt"
>;

/** A dead letter as it is listed. */
export type ListedDeadLetter = DeadLetterDetail &
  Pick<DeadLetter, "messageId" | "destinationId" | "reason" | "deadAtMs">;

export function deadLetterEntries(
  letter: DeadLetter,
  { partition, offset, key }: Pick<IncomingRecord, "partition" | "offset" | "key">,
): readonly JournalEntry[] {
  const { sourceId, type, receivedAtMs, attempts, deferrals, windowStartMs, lastAttempt } = letter;
  const detail: DeadLetterDetail = { sourceId, type, receivedAtMs, attempts, deferrals, windowStartMs, lastAttempt };
  const { deadAtMs, destinationId, reason, messageId } = letter;
  const named = { partition, offset, place: 0, destinationId, messageId };
  const bodyText = () => Buffer.from(letter.body).toString();
  const users = suppressionKeysOf({ delivery: letter, key: key?.toString() ?? null, bodyText })
    .map((each) => suppressionDigest(each).slice(0, DIGEST_LENGTH))
    .join("");
  return [{ ...named, timeMs: deadAtMs, kind: reason, detail: JSON.stringify(detail), users }];
}

/** Reads back what `deadLetterEntries` made. */
export function deadLetterFromEntry(entry: JournalEntry): ListedDeadLetter {
  const { timeMs, destinationId, kind, messageId } = entry;
  // The journal holds what was put into it.
  const detail = JSON.parse(entry.detail) as DeadLetterDetail;
  return { ...detail, messageId, destinationId, reason: kind as DeadLetter["reason"], deadAtMs: timeMs };
}

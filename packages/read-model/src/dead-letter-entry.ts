/** Dead letters as entries of their projection, and back: everything but body and history, which stay in the topic. */
import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import { suppressionKeysOf } from "@posthaste/core/deletion/suppression";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { DeadLetterFacts } from "@posthaste/core/replay/dead-letter-filter";
import { suppressionDigest } from "@posthaste/kafka/log/suppression-digest";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { errorsOf, userIdsOf } from "./dead-letter-facts.ts";
import type { ProjectionEntry } from "./projection-entry.ts";

type Detailed =
  | "sourceId"
  | "type"
  | "event"
  | "userKey"
  | "reasonClass"
  | "receivedAtMs"
  | "attempts"
  | "deferrals"
  | "windowStartMs"
  | "lastAttempt"
  | "replayId"
  | "replays";

interface DeadLetterDetail extends Pick<DeadLetter, Detailed> {
  /** See DeadLetter; absent for a dead letter that was not sent again. */
  readonly replayedFrom?: string;
  /** The user ids and errors that `deadLetterCheck` compares with a filter. */
  readonly userIds: readonly string[];
  readonly errors: readonly string[];
}

/** A dead letter as it is listed. */
export type ListedDeadLetter = Pick<DeadLetter, Detailed | "messageId" | "destinationId" | "reason" | "deadAtMs">;

export function deadLetterEntries(
  deadLetter: DeadLetter,
  { partition, offset, key }: Pick<IncomingRecord, "partition" | "offset" | "key">,
): readonly ProjectionEntry[] {
  const { sourceId, type, event, userKey, reasonClass, receivedAtMs, attempts, deferrals } = deadLetter;
  const { windowStartMs, lastAttempt, replayId, replays, replayedFrom: replayedFromPlace } = deadLetter;
  const detail: DeadLetterDetail = {
    ...{ sourceId, type, event, userKey, reasonClass, receivedAtMs, attempts, deferrals },
    ...{
      windowStartMs,
      lastAttempt,
      replayId,
      replays,
      userIds: userIdsOf(deadLetter, key),
      errors: errorsOf(deadLetter),
    },
    ...(replayedFromPlace === null ? {} : { replayedFrom: replayedFromPlace }),
  };
  const { deadAtMs, destinationId, reason, messageId } = deadLetter;
  const bodyText = () => Buffer.from(deadLetter.body).toString();
  const users = suppressionKeysOf({ delivery: deadLetter, key: key?.toString() ?? null, bodyText })
    .map((each) => suppressionDigest(each).slice(0, DIGEST_LENGTH))
    .join("");
  const named = { partition, offset, place: 0, destinationId, messageId };
  return [{ ...named, timeMs: deadAtMs, kind: reason, detail: JSON.stringify(detail), users }];
}

/** Reads an entry of `deadLetterEntries`. */
export function deadLetterFromEntry(entry: ProjectionEntry): ListedDeadLetter {
  const { timeMs, destinationId, kind, messageId } = entry;
  const { userIds: _, errors: __, replayedFrom: ___, ...detail } = detailOf(entry);
  return { ...detail, messageId, destinationId, reason: kind as DeadLetter["reason"], deadAtMs: timeMs };
}

/** The place of the dead letter that it was sent again from, as topic/partition/offset; null for none. */
export function replayedFrom(entry: ProjectionEntry): string | null {
  return detailOf(entry).replayedFrom ?? null;
}

/** The facts that filters look at. */
export function factsFromEntry(entry: ProjectionEntry): DeadLetterFacts {
  return factsOf(entry, detailOf(entry));
}

/** The facts that filters look at, and the URLs that failed. */
export function judgedFromEntry(entry: ProjectionEntry): {
  readonly facts: DeadLetterFacts;
  readonly urls: readonly string[];
} {
  const detail = detailOf(entry);
  return { facts: factsOf(entry, detail), urls: detail.lastAttempt.map(({ url }) => url) };
}

function factsOf(entry: ProjectionEntry, detail: DeadLetterDetail): DeadLetterFacts {
  const { partition, offset, timeMs: deadAtMs, destinationId, kind, messageId } = entry;
  const { sourceId, type, event, userIds, errors } = detail;
  return {
    ...{ partition, offset, deadAtMs, destinationId, messageId, sourceId, type, event, userIds, errors },
    reason: kind as DeadLetter["reason"],
  };
}

/** The projection holds the detail that `deadLetterEntries` wrote. */
function detailOf({ detail }: ProjectionEntry): DeadLetterDetail {
  return JSON.parse(detail) as DeadLetterDetail;
}

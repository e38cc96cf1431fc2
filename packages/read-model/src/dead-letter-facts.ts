/** The facts about a dead letter that filters look at, from its record or from its entry. */
import { type DeadLetter, lastAnswers } from "@posthaste/core/delivery/dead-letter";
import { type DeadLetterFacts, errorOf } from "@posthaste/core/replay/dead-letter-filter";
import { userKeyOf } from "@posthaste/core/routing/partition-key";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

export function factsOf(
  deadLetter: DeadLetter,
  { partition, offset, key }: Pick<IncomingRecord, "partition" | "offset" | "key">,
): DeadLetterFacts {
  const { deadAtMs, reason, destinationId, sourceId, messageId, type, event } = deadLetter;
  return {
    ...{ partition, offset, deadAtMs, reason, destinationId, sourceId, messageId, type, event },
    userIds: userIdsOf(deadLetter, key),
    errors: errorsOf(deadLetter),
  };
}

/** The errors of its URLs, each once, in the order of the URLs. */
export function errorsOf(deadLetter: Pick<DeadLetter, "lastAttempt" | "history">): readonly string[] {
  return [...new Set(lastAnswers(deadLetter).map(errorOf))];
}

/** The ids of the user that a dead letter is about; for an alias, also the id that it aliases from. */
export function userIdsOf(deadLetter: DeadLetter, key: Buffer | null): readonly string[] {
  const own = key === null ? undefined : userKeyOf(deadLetter.destinationId, key.toString());
  if (own === undefined) return [];
  if (deadLetter.type !== "alias" || deadLetter.body.length === 0) return [own];
  const body: unknown = JSON.parse(Buffer.from(deadLetter.body).toString());
  const isNamed = typeof body === "object" && body !== null && "Previous ID" in body;
  return isNamed && typeof body["Previous ID"] === "string" ? [own, body["Previous ID"]] : [own];
}

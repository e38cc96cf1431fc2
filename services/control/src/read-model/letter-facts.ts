/** The facts about a dead letter that filters look at, from its record or from its entry. */
import { type DeadLetter, lastAnswers } from "@posthaste/core/delivery/dead-letter";
import { errorOf, type LetterFacts } from "@posthaste/core/replay/letter-filter";
import { userKeyOf } from "@posthaste/core/routing/partition-key";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

export function factsOf(
  letter: DeadLetter,
  { partition, offset, key }: Pick<IncomingRecord, "partition" | "offset" | "key">,
): LetterFacts {
  const { deadAtMs, reason, destinationId, sourceId, messageId, type, event } = letter;
  return {
    ...{ partition, offset, deadAtMs, reason, destinationId, sourceId, messageId, type, event },
    userIds: userIdsOf(letter, key),
    errors: errorsOf(letter),
  };
}

/** The errors of its URLs, each once, in the order of the URLs. */
export function errorsOf(letter: Pick<DeadLetter, "lastAttempt" | "history">): readonly string[] {
  return [...new Set(lastAnswers(letter).map(errorOf))];
}

/** The ids of the user that a letter is about; for an alias, also the id that it aliases from. */
export function userIdsOf(letter: DeadLetter, key: Buffer | null): readonly string[] {
  const own = key === null ? undefined : userKeyOf(letter.destinationId, key.toString());
  if (own === undefined) return [];
  if (letter.type !== "alias" || letter.body.length === 0) return [own];
  const body: unknown = JSON.parse(Buffer.from(letter.body).toString());
  const isNamed = typeof body === "object" && body !== null && "Previous ID" in body;
  return isNamed && typeof body["Previous ID"] === "string" ? [own, body["Previous ID"]] : [own];
}

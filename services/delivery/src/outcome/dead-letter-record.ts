/**
 * The record of a dead letter: its value holds the delivery and its history at the end, and its headers repeat some of
 * that.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { encodeDeadLetter } from "@posthaste/contracts/dead-letter-headers";
import type { TopicNames } from "@posthaste/contracts/topics";
import { decodeHistory } from "@posthaste/core/delivery/attempt-history";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { reasonClassOf } from "@posthaste/core/delivery/reason-class";
import { isOriginKnown } from "@posthaste/core/delivery/replay";
import { userKeyOf } from "@posthaste/core/routing/partition-key";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import type { DeadLetterFollowUp } from "./follow-ups.ts";

export interface DeadLetterTerms {
  readonly names: TopicNames;
  readonly codec: Codec<DeadLetter>;
  /** The key of the delivery's record, which the dead letter keeps. */
  readonly key: Buffer | null;
  readonly deadAtMs: number;
}

export function toDeadLetterRecord(followUp: DeadLetterFollowUp, terms: DeadLetterTerms): OutgoingRecord {
  const { names, codec, key } = terms;
  const deadLetter = toDeadLetter(followUp, terms);
  return { topic: names.deadLetters, key, value: codec.encode(deadLetter), headers: encodeDeadLetter(deadLetter) };
}

function toDeadLetter(followUp: DeadLetterFollowUp, { names, key, deadAtMs }: DeadLetterTerms): DeadLetter {
  const { delivery, reason, progress, lastAttempt } = followUp;
  const { attempts, deferrals, windowStartMs, replay } = progress;
  const history = decodeHistory(progress.history);
  const [first] = history;
  // The dead letter of a suppressed user keeps nothing of the event but its record's own key.
  const userKey =
    key === null || reason === "suppressed" ? undefined : userKeyOf(delivery.destinationId, key.toString());
  return {
    ...delivery,
    reason,
    reasonClass: reasonClassOf({ reason, lastAttempt, history }),
    deadAtMs,
    attempts,
    deferrals,
    windowStartMs,
    lastAttempt,
    userKey: userKey ?? null,
    firstAttemptAtMs: first?.attempt === 1 ? first.startedAtMs : null,
    history,
    originTopic: isOriginKnown(delivery, replay) ? names.events : null,
    replayId: replay?.id ?? null,
    replays: replay?.count ?? 0,
    replayedFrom: replay?.from ?? null,
  };
}

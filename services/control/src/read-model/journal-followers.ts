/** Which topic fills which journal, and what its records become there. */
import type { Codec, OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { AttemptBatch } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { UnroutedEvents } from "@posthaste/core/routing/unrouted-event";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { attemptEntries, deferralEntries } from "./attempt-entry.ts";
import { deadLetterEntries } from "./dead-letter-entry.ts";
import { rejectedCallEntries } from "./rejected-call-entry.ts";
import type { JournalName } from "./store.ts";
import { TopicFollower, type TopicFollowerOptions } from "./topic-follower.ts";
import { unroutedEntries } from "./unrouted-entry.ts";

/** How far a journal is; see TopicFollower. */
export type Followed = Pick<TopicFollower<unknown>, "behind" | "asOfMs">;

export interface JournalCodecs {
  readonly attempts: Codec<AttemptBatch>;
  readonly deadLetters: Codec<DeadLetter>;
  readonly unrouted: Codec<UnroutedEvents>;
  readonly rejectedCalls: Codec<RejectedCalls>;
}

export async function openJournalCodecs(openCodec: OpenCodec): Promise<JournalCodecs> {
  const [attempts, deadLetters, unrouted, rejectedCalls] = await Promise.all([
    openCodec<AttemptBatch>("attempt-batch"),
    openCodec<DeadLetter>("dead-letter"),
    openCodec<UnroutedEvents>("unrouted-events"),
    openCodec<RejectedCalls>("rejected-calls"),
  ]);
  return { attempts, deadLetters, unrouted, rejectedCalls };
}

type Shared = Pick<TopicFollowerOptions<unknown>, "store" | "unreadable" | "unknownSchemaMs">;

export interface JournalFollowers {
  readonly followers: readonly { readonly close: () => Promise<void> }[];
  readonly followed: Readonly<Record<JournalName, Followed>>;
}

/** Begins to follow the topics; each follower is to be closed. */
export function followJournals(
  connection: KafkaConnection,
  { names, codecs, ...shared }: Shared & { readonly names: TopicNames; readonly codecs: JournalCodecs },
): JournalFollowers {
  const attempts = new TopicFollower(connection, {
    ...shared,
    topic: names.attempts,
    journal: "attempts",
    beside: ["deferrals"],
    codec: codecs.attempts,
    toEntries: (batch, record) => ({
      attempts: attemptEntries(batch, record),
      deferrals: deferralEntries(batch, record),
    }),
  });
  const deadLetters = new TopicFollower(connection, {
    ...shared,
    topic: names.deadLetters,
    journal: "dead_letters",
    codec: codecs.deadLetters,
    toEntries: (letter, record) => ({ dead_letters: deadLetterEntries(letter, record) }),
  });
  const unrouted = new TopicFollower(connection, {
    ...shared,
    topic: names.unrouted,
    journal: "unrouted",
    codec: codecs.unrouted,
    toEntries: (events, record) => ({ unrouted: unroutedEntries(events, record) }),
  });
  const rejectedCalls = new TopicFollower(connection, {
    ...shared,
    topic: names.rejectedCalls,
    journal: "rejected_calls",
    codec: codecs.rejectedCalls,
    toEntries: (calls, record) => ({ rejected_calls: rejectedCallEntries(calls, record) }),
  });
  return {
    followers: [attempts, deadLetters, unrouted, rejectedCalls],
    followed: { attempts, deferrals: attempts, dead_letters: deadLetters, unrouted, rejected_calls: rejectedCalls },
  };
}

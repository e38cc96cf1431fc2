/** Which topic fills which projection, and the entries that its records become. */
import type { Codec, OpenCodec } from "@posthaste/contracts/codec";
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { SourceActivity } from "@posthaste/core/call/source-activity";
import type { AttemptBatch } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { deadLetterPlace } from "@posthaste/core/replay/dead-letter-filter";
import type { UnroutedEvents } from "@posthaste/core/routing/unrouted-event";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { RecentEntries } from "@posthaste/kafka/log/recent-entries";
import { activityEntries, refusedRequestEntries } from "./activity-entry.ts";
import { attemptEntries, deferralEntries } from "./attempt-entry.ts";
import { deadLetterEntries } from "./dead-letter-entry.ts";
import { lostDeliveryEntries } from "./delivery-entry.ts";
import { destinationEntries } from "./destination-entry.ts";
import type { ProjectionEntry } from "./projection-entry.ts";
import { rejectedCallEntries } from "./rejected-call-entry.ts";
import type { ProjectionName } from "./store.ts";
import type { StoreClient } from "./store-client.ts";
import { type Reading, TopicFollower, type TopicFollowerOptions } from "./topic-follower.ts";
import { unroutedEntries } from "./unrouted-entry.ts";

/** How far a projection has been read; see TopicFollower. */
export type Followed = Pick<TopicFollower<unknown>, "behind" | "asOfMs">;

export interface ProjectionCodecs {
  readonly attempts: Codec<AttemptBatch>;
  readonly deadLetters: Codec<DeadLetter>;
  readonly unrouted: Codec<UnroutedEvents>;
  readonly rejectedCalls: Codec<RejectedCalls>;
  readonly sourceActivity: Codec<SourceActivity>;
  /** Secrets stay sealed. */
  readonly destinations: Codec<DestinationRecord>;
}

export async function openProjectionCodecs(openCodec: OpenCodec): Promise<ProjectionCodecs> {
  const [attempts, deadLetters, unrouted, rejectedCalls, sourceActivity, destinations] = await Promise.all([
    openCodec<AttemptBatch>("attempt-batch"),
    openCodec<DeadLetter>("dead-letter"),
    openCodec<UnroutedEvents>("unrouted-events"),
    openCodec<RejectedCalls>("rejected-calls"),
    openCodec<SourceActivity>("source-activity"),
    openCodec<DestinationRecord>("destination"),
  ]);
  return { attempts, deadLetters, unrouted, rejectedCalls, sourceActivity, destinations };
}

type Shared = Pick<TopicFollowerOptions<unknown>, "store" | "unreadable" | "unknownSchemaMs" | "onRemade">;

export interface ProjectionFollowers {
  readonly followers: readonly { readonly close: () => Promise<void> }[];
  readonly followed: Readonly<Record<ProjectionName, Followed>>;
  /** The first reading of all topics together; null while no topic is being read for the first time. */
  readonly reading: () => Reading | null;
}

interface FollowedTopics {
  readonly names: TopicNames;
  /** Each topic's id by its name; empty for a topic that did not exist, or where the cluster has no topic ids. */
  readonly topicIds: ReadonlyMap<string, string>;
  readonly codecs: ProjectionCodecs;
  readonly recent: RecentProjections;
}

/** The projections whose entries go to watching callers as they come. */
type RecentProjection = "attempts" | "dead_letters" | "rejected_calls" | "refused_requests";
export type RecentProjections = Readonly<Record<RecentProjection, RecentEntries<ProjectionEntry>>>;

/** Begins to follow the topics; each follower is to be closed. */
export function followProjections(
  connection: KafkaConnection,
  { names, topicIds, codecs, recent, ...shared }: Shared & FollowedTopics,
): ProjectionFollowers {
  const ofTopic = (topic: string) => ({ topic, topicId: topicIds.get(topic) ?? "" });
  const attempts = new TopicFollower(connection, {
    ...shared,
    ...ofTopic(names.attempts),
    projection: "attempts",
    recent: recent.attempts,
    codec: codecs.attempts,
    toEntries: (batch, record) => ({
      attempts: attemptEntries(batch, record),
      deferrals: deferralEntries(batch, record),
    }),
  });
  const deadLetters = new TopicFollower(connection, {
    ...shared,
    ...ofTopic(names.deadLetters),
    projection: "dead_letters",
    recent: recent.dead_letters,
    codec: codecs.deadLetters,
    withNotes: (entries) => deadLettersWithMarks(shared.store, entries),
    toEntries: (dead, record) => ({
      dead_letters: deadLetterEntries(dead, record),
      deliveries: lostDeliveryEntries(dead, record),
    }),
  });
  const unrouted = new TopicFollower(connection, {
    ...shared,
    ...ofTopic(names.unrouted),
    projection: "unrouted",
    codec: codecs.unrouted,
    toEntries: (events, record) => ({ unrouted: unroutedEntries(events, record) }),
  });
  const rejectedCalls = new TopicFollower(connection, {
    ...shared,
    ...ofTopic(names.rejectedCalls),
    projection: "rejected_calls",
    recent: recent.rejected_calls,
    codec: codecs.rejectedCalls,
    toEntries: (calls, record) => ({ rejected_calls: rejectedCallEntries(calls, record) }),
  });
  const activity = new TopicFollower(connection, {
    ...shared,
    ...ofTopic(names.sourceActivity),
    projection: "source_activity",
    recent: recent.refused_requests,
    recentOf: "refused_requests",
    codec: codecs.sourceActivity,
    toEntries: (value, record) => ({
      source_activity: activityEntries(value, record),
      refused_requests: refusedRequestEntries(value, record),
    }),
  });
  const destinations = new TopicFollower(connection, {
    ...shared,
    ...ofTopic(names.destinationConfig),
    projection: "destination_config",
    codec: codecs.destinations,
    toEntries: (destination, record) => ({ destination_config: destinationEntries(destination, record) }),
    toRemoval: (record) => ({ destination_config: destinationEntries(null, record) }),
  });
  const followers = [attempts, deadLetters, unrouted, rejectedCalls, activity, destinations];
  return {
    followers,
    reading: () => sumOf(followers.flatMap((each) => each.reading ?? [])),
    followed: {
      ...{ attempts, deferrals: attempts, dead_letters: deadLetters, unrouted, rejected_calls: rejectedCalls },
      ...{ deliveries: both(attempts, deadLetters), source_activity: activity, refused_requests: activity },
      destination_config: destinations,
    },
  };
}

/** A dead letter that the store does not hold stays without a mark. */
async function deadLettersWithMarks(
  store: Pick<StoreClient, "at">,
  entries: readonly ProjectionEntry[],
): Promise<readonly ProjectionEntry[]> {
  if (entries.length === 0) return entries;
  const places = entries.map(({ timeMs, partition, offset, place }) => ({ timeMs, partition, offset, place }));
  const held = await store.at("dead_letters", places);
  const marks = new Map(held.map((dead) => [deadLetterPlace(dead), dead.mark ?? 0]));
  return entries.map((dead) => ({ ...dead, mark: marks.get(deadLetterPlace(dead)) }));
}

function sumOf(readings: readonly Reading[]): Reading | null {
  if (readings.length === 0) return null;
  return readings.reduce((sum, { left, of }) => ({ left: sum.left + left, of: sum.of + of }), { left: 0, of: 0 });
}

/** The state of a projection that two topics fill. */
function both(one: Followed, other: Followed): Followed {
  return {
    get behind() {
      return one.behind === null || other.behind === null ? null : one.behind + other.behind;
    },
    get asOfMs() {
      return one.asOfMs === null || other.asOfMs === null ? null : Math.min(one.asOfMs, other.asOfMs);
    },
  };
}

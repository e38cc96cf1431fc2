/**
 * The partitions of a producer's topics and who leads them, by the connection's own admin client: on a connection of its own,
 * since a question behind a produce request waits as long as that does.
 *
 * Read again now and then, since a topic may be grown, and when the producer found a leader gone.
 */
import { isPosthasteError } from "@posthaste/core/errors";
import type { Admin } from "kafkajs";
import type { KafkaConnection } from "../connection/connect.ts";
import { pause, retryPauseMs } from "../connection/deadline.ts";
import { singleFlight } from "../connection/single-flight.ts";
import { whenReachable } from "../connection/when-reachable.ts";

/** As often as kafkajs reads its own metadata again. */
const REFRESH_MS = 5 * 60_000;

/** A broker and where it is reached. */
export interface BrokerPlace {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
}

export interface PartitionLeaders {
  /** Partitions of the topic, those without a leader among them; undefined for a topic that was not named. */
  countOf(topic: string): number | undefined;
  /** Undefined while the partition has no leader. */
  leaderOf(topic: string, partition: number): BrokerPlace | undefined;
  /** Resolves when the brokers have answered a question that was asked after the call, or `close` was called. Never rejects. */
  refresh(): Promise<void>;
  close(): void;
}

/** By topic and partition; undefined where there is no leader. */
type Leaders = ReadonlyMap<string, readonly (BrokerPlace | undefined)[]>;

/** Waits for brokers that cannot be reached yet. Rejects with `topic_missing`, or `closed` when the connection is. */
export async function readPartitionLeaders(
  connection: KafkaConnection,
  topics: readonly string[],
): Promise<PartitionLeaders> {
  let leaders = await whenReachable(connection, () => fetchLeaders(connection, topics));
  const closing = new AbortController();
  const refresh = singleFlight(async () => {
    for (let failures = 1; !closing.signal.aborted; failures += 1) {
      try {
        leaders = new Map([...leaders, ...(await fetchWhatIsThere(connection, topics))]);
        return;
      } catch (error) {
        if (isPosthasteError(error, "closed")) return;
      }
      await pause(retryPauseMs(failures), closing.signal);
    }
  });
  const timer = setInterval(() => void refresh(), REFRESH_MS);
  timer.unref();
  return {
    countOf: (topic) => leaders.get(topic)?.length,
    leaderOf: (topic, partition) => leaders.get(topic)?.[partition],
    refresh,
    close: () => {
      clearInterval(timer);
      closing.abort();
    },
  };
}

/** Of the topics that exist: one that was removed hides no other, and that the only one was is an answer too. */
async function fetchWhatIsThere(connection: KafkaConnection, topics: readonly string[]): Promise<Leaders> {
  try {
    return await fetchLeaders(connection, topics);
  } catch (error) {
    if (!isPosthasteError(error, "topic_missing")) throw error;
  }
  if (topics.length < 2) return new Map();
  const each = await Promise.allSettled(topics.map((topic) => fetchLeaders(connection, [topic])));
  return new Map(each.flatMap((one) => (one.status === "fulfilled" ? [...one.value] : [])));
}

async function fetchLeaders(connection: KafkaConnection, topics: readonly string[]): Promise<Leaders> {
  if (topics.length === 0) return new Map();
  return await connection.withAdmin((admin) => askLeaders(admin, topics));
}

async function askLeaders(admin: Admin, topics: readonly string[]): Promise<Leaders> {
  const { topics: found } = await admin.fetchTopicMetadata({ topics: [...topics] });
  const { brokers } = await admin.describeCluster();
  const places = new Map(brokers.map((place) => [place.nodeId, place]));
  return new Map(
    found.map(({ name, partitions }) => {
      const leaders = Array.from<BrokerPlace | undefined>({ length: partitions.length });
      for (const { partitionId, leader } of partitions) leaders[partitionId] = places.get(leader);
      return [name, leaders];
    }),
  );
}

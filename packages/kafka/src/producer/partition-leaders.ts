/**
 * The partitions of a producer's topics and who leads them. They are asked for by the connection's admin client, and so
 * not behind a produce request, where a question would wait for as long as that does.
 *
 * Owns: the leaders as they were last told, and one timer. They are read again every five minutes, since a topic may be
 * grown, and when the producer found a leader gone.
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
  /**
   * Resolves when the brokers have answered a question that was asked after the call, or when `close` was called. Never
   * rejects.
   */
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
  const leaders = await whenReachable(connection, () => fetchLeaders(connection, topics));
  return new RefreshedLeaders(connection, topics, leaders);
}

class RefreshedLeaders implements PartitionLeaders {
  readonly #connection: KafkaConnection;
  readonly #topics: readonly string[];
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #leaders: Leaders;

  constructor(connection: KafkaConnection, topics: readonly string[], leaders: Leaders) {
    this.#connection = connection;
    this.#topics = topics;
    this.#leaders = leaders;
    this.#timer = setInterval(() => void this.refresh(), REFRESH_MS);
    this.#timer.unref();
  }

  countOf(topic: string): number | undefined {
    return this.#leaders.get(topic)?.length;
  }

  leaderOf(topic: string, partition: number): BrokerPlace | undefined {
    return this.#leaders.get(topic)?.[partition];
  }

  readonly refresh = singleFlight(() => this.#refresh());

  close(): void {
    clearInterval(this.#timer);
    this.#closing.abort();
  }

  async #refresh(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        this.#leaders = new Map([...this.#leaders, ...(await fetchWhatIsThere(this.#connection, this.#topics))]);
        return;
      } catch (error) {
        if (isPosthasteError(error, "closed")) return;
      }
      await pause(retryPauseMs(failures), signal);
    }
  }
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

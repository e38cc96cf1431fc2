/**
 * The partitions of a producer's topics and their leaders. The connection's admin client asks for them: behind a
 * produce request the question would wait for that request.
 *
 * Owns: the leaders as the brokers last named them, and one timer. They are read again every five minutes, since
 * somebody may add partitions, and whenever the producer asks.
 */
import { isPosthasteError } from "@posthaste/core/errors";
import type { Admin } from "kafkajs";
import type { KafkaConnection } from "../connection/connect.ts";
import { pause, retryPauseMs } from "../connection/deadline.ts";
import { singleFlight } from "../connection/single-flight.ts";
import { whenReachable } from "../connection/when-reachable.ts";

/** In ms: as often as kafkajs reads its own metadata again. */
const REFRESH_MS = 5 * 60_000;

/** A broker and its address. */
export interface BrokerPlace {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
}

export interface PartitionLeaders {
  /**
   * The number of the topic's partitions, those without a leader included; undefined for a topic that was not named.
   */
  countOf(topic: string): number | undefined;
  /** The partition's leader; undefined while it has none. */
  leaderOf(topic: string, partition: number): BrokerPlace | undefined;
  /**
   * Reads the leaders again. Resolves when a question that began after the call was answered, or at `close`. Never
   * rejects.
   */
  refresh(): Promise<void>;
  close(): void;
}

/** Leaders by topic and partition; undefined for a partition without one. */
type Leaders = ReadonlyMap<string, readonly (BrokerPlace | undefined)[]>;

/**
 * Reads the leaders. Waits for brokers that cannot be reached yet. Rejects with `topic_missing`, and with `closed` when
 * the connection is closed.
 */
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
        this.#leaders = new Map([...this.#leaders, ...(await fetchExisting(this.#connection, this.#topics))]);
        return;
      } catch (error) {
        if (isPosthasteError(error, "closed")) return;
      }
      await pause(retryPauseMs(failures), signal);
    }
  }
}

/** The leaders of those topics that exist: a topic that was removed must not hide the others. */
async function fetchExisting(connection: KafkaConnection, topics: readonly string[]): Promise<Leaders> {
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

/** How many partitions the topics of a producer have; read again now and then, since a topic may be grown. */
import type { KafkaConnection } from "./connect.ts";
import { whenReachable } from "./when-reachable.ts";

/** As often as kafkajs reads its own metadata again. */
const REFRESH_MS = 5 * 60_000;

export interface PartitionCounts {
  /** Undefined for a topic that was not named. */
  of(topic: string): number | undefined;
  close(): void;
}

/** Waits for brokers that cannot be reached yet. Rejects with `topic_missing`, or `closed` when the connection is. */
export async function readPartitionCounts(
  connection: KafkaConnection,
  topics: readonly string[],
): Promise<PartitionCounts> {
  let counts = await whenReachable(connection, () => fetchCounts(connection, topics));
  const timer = setInterval(() => {
    // A failure keeps the old counts: the producer finds out by itself when a partition is not there.
    fetchCounts(connection, topics).then(
      (fresh) => {
        counts = fresh;
      },
      () => {},
    );
  }, REFRESH_MS);
  timer.unref();
  return { of: (topic) => counts.get(topic), close: () => clearInterval(timer) };
}

async function fetchCounts(
  connection: KafkaConnection,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (topics.length === 0) return new Map();
  const metadata = await connection.withAdmin((admin) => admin.fetchTopicMetadata({ topics: [...topics] }));
  return new Map(metadata.topics.map(({ name, partitions }) => [name, partitions.length]));
}

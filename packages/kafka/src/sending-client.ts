/**
 * A kafkajs client that sends: kafkajs's connections and its picture of the cluster, without its producer, which copies a
 * partition's records once for each of them and every byte about seven times. What goes over the wire is the same.
 *
 * Each partition goes to the leader that the picture names, and every answer is waited for. Nothing is tried again: after a
 * rejection its owner throws the client away (P2). A partition that the picture does not have is not sent, and the answer does
 * not name it (P3).
 */
import type { KafkaClient } from "./connect.ts";
import type { Batch, PlacedRecord } from "./group-commit.ts";
import { type Cluster, createCluster, sendProduceRequest } from "./kafkajs-internals.ts";
import { encodeProduceRequest, type ProduceTopic } from "./produce-request.ts";
import type { SendingClient } from "./producer-client.ts";

/** Connects nothing yet. */
export function createSendingClient(
  client: KafkaClient,
  nowMs: () => number = Date.now,
  cluster: Cluster = createCluster(client.kafka),
): SendingClient {
  const knownTopics = new Set<string>();

  const know = async (topics: readonly string[]) => {
    if (topics.length === 0) return;
    await cluster.addMultipleTargetTopics(topics);
    for (const topic of topics) knownTopics.add(topic);
  };

  const sendTo = async (nodeId: string, topics: readonly ProduceTopic[], timeoutMs: number) => {
    const broker = await cluster.findBroker({ nodeId });
    return sendProduceRequest(broker, encodeProduceRequest({ topics, timeoutMs, nowMs: nowMs() }));
  };

  return {
    connect: () => cluster.connect(),
    sendBatch: async (batch, timeoutMs) => {
      await know([...batch.keys()].filter((topic) => !knownTopics.has(topic)));
      await cluster.refreshMetadataIfNecessary();
      const requests = Array.from(splitByLeader(batch, cluster), ([nodeId, topics]) =>
        sendTo(nodeId, topics, timeoutMs),
      );
      return (await Promise.all(requests)).flat();
    },
    disconnect: () => cluster.disconnect(),
    destroy: () => client.destroy(),
  };
}

/** What each broker is to be sent, by its id. Throws when a partition has no leader. */
function splitByLeader(batch: Batch, cluster: Pick<Cluster, "findLeaderForPartitions">): Map<string, ProduceTopic[]> {
  const requests = new Map<string, ProduceTopic[]>();
  for (const [topic, records] of batch) {
    const byPartition = groupByPartition(records);
    const leaders = cluster.findLeaderForPartitions(topic, [...byPartition.keys()]);
    for (const [nodeId, partitions] of Object.entries(leaders)) {
      const own = partitions.map((partition) => [partition, byPartition.get(partition) ?? []] as const);
      const request = requests.get(nodeId);
      const part: ProduceTopic = { topic, partitions: new Map(own) };
      if (request) request.push(part);
      else requests.set(nodeId, [part]);
    }
  }
  return requests;
}

function groupByPartition(records: readonly PlacedRecord[]): Map<number, PlacedRecord[]> {
  const groups = new Map<number, PlacedRecord[]>();
  for (const record of records) {
    const group = groups.get(record.partition);
    if (group) group.push(record);
    else groups.set(record.partition, [record]);
  }
  return groups;
}

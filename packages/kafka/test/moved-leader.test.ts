import { createRequire } from "node:module";
import { SILENT_LOG } from "@posthaste/core/log";
import kafkajs, { type ProducerBatch, type RecordMetadata } from "kafkajs";
import { describe, expect, it } from "vitest";
import type { BrokerClient } from "../src/producer/broker-client.ts";
import type { PlacedRecord } from "../src/producer/partition-queue.ts";
import { GroupCommitProducer } from "../src/producer/producer.ts";
import { makeValue } from "../src/producer/record-value.ts";

const require = createRequire(import.meta.url);

type SendMessages = (batch: ProducerBatch & { readonly acks: number }) => Promise<RecordMetadata[]>;

/**
 * kafkajs's own sending, retries included, over two brokers: partition 1 moves from broker 2 to broker 1 during the
 * first send.
 */
function createMovedLeader() {
  /** Partitions that a broker took, in order. */
  const taken: number[] = [];
  let leaderOfOne = 2;
  const createBroker = (nodeId: number) => ({
    nodeId: String(nodeId),
    produce: async ({ topicData }: { topicData: { partitions: { partition: number }[] }[] }) => {
      if (nodeId === 2) {
        leaderOfOne = 1;
        const type = "NOT_LEADER_FOR_PARTITION";
        throw new kafkajs.KafkaJSProtocolError({ name: "", message: type, type, code: 6, retriable: true } as never);
      }
      const partitions = (topicData[0]?.partitions ?? []).map(({ partition }) => partition);
      taken.push(...partitions);
      return { topics: [{ topicName: "t", partitions: partitions.map((partition) => ({ partition, errorCode: 0 })) }] };
    },
  });
  const brokers: Record<string, ReturnType<typeof createBroker>> = { 1: createBroker(1), 2: createBroker(2) };
  const leaders = () => [1, leaderOfOne];
  const cluster = {
    refreshMetadataIfNecessary: async () => {},
    refreshMetadata: async () => {},
    addMultipleTargetTopics: async () => {},
    isConnected: () => true,
    findTopicPartitionMetadata: () => leaders().map((leader, partitionId) => ({ partitionId, leader })),
    findLeaderForPartitions: (_: string, partitions: string[]) =>
      Object.groupBy(partitions.map(Number), (partition) => String(leaders()[partition])),
    findBroker: async ({ nodeId }: { nodeId: string }) => brokers[nodeId],
  };
  const nothing = () => {};
  const createSendMessages = require("kafkajs/src/producer/sendMessages.js");
  const sendMessages: SendMessages = createSendMessages({
    logger: { debug: nothing, error: nothing },
    cluster,
    partitioner: ({ message }: { message: { partition: number } }) => message.partition,
    eosManager: {
      acquireBrokerLock: async () => {},
      releaseBrokerLock: async () => {},
      isTransactional: () => false,
      getSequence: () => 0,
      updateSequence: nothing,
      getProducerId: () => -1,
      getProducerEpoch: () => 0,
    },
    retrier: require("kafkajs/src/retry")({ retries: 5, initialRetryTime: 5 }),
  });
  return { taken, sendMessages };
}

const toMessage = ({ partition, value }: PlacedRecord) => ({
  partition,
  value: makeValue(value),
});

describe("a leader that moves between a failure and kafkajs's retry", () => {
  const toBoth = [0, 1].map((partition) => ({ partition, key: null, value: Buffer.from(`v${partition}`) }));

  it("makes kafkajs resolve without having sent a partition", async () => {
    const { taken, sendMessages } = createMovedLeader();
    const answer = await sendMessages({ acks: -1, topicMessages: [{ topic: "t", messages: toBoth }] });
    expect(answer.map(({ partition }) => partition)).toEqual([0]);
    expect(taken).toEqual([0]);
  });

  it("P3: costs the producer no record", async () => {
    const { taken, sendMessages } = createMovedLeader();
    const client: BrokerClient = {
      connect: () => undefined,
      send: (batches) => {
        const topicMessages = [{ topic: "t", messages: batches.flatMap(({ records }) => records.map(toMessage)) }];
        return sendMessages({ acks: -1, topicMessages });
      },
      disconnect: async () => {},
      destroy: () => {},
    };
    const producer = new GroupCommitProducer({
      name: "test",
      topics: ["t"],
      connection: { log: SILENT_LOG, metrics: undefined },
      makeClient: () => client,
      leaders: {
        countOf: () => 2,
        leaderOf: () => ({ nodeId: 1, host: "h", port: 1 }),
        refresh: async () => {},
        close: () => {},
      },
    });
    await producer.send(toBoth.map((record) => ({ topic: "t", ...record })));
    await producer.close();
    expect(taken).toEqual([0, 1]);
  });
});

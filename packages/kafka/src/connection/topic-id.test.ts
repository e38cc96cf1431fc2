import { SILENT_LOG } from "@posthaste/core/log";
import { expect, it } from "vitest";
import type { KafkaConnection } from "./connect.ts";
import { readTopicIds, TopicIdQuestion } from "./topic-id.ts";

/** kafkajs's maker of clusters, under a symbol of its own. */
const CREATE_CLUSTER = Symbol("private:Kafka:createCluster");

/**
 * Brokers by their number, of which those in `unreachable` take no connection; partition 0 of each topic is led by 1,
 * and so on.
 */
function connectionTo(leaders: readonly number[], unreachable: readonly number[]) {
  const asked: string[] = [];
  const open = new Set<object>();
  const cluster = (topic = "") => ({
    connect: async () => {},
    addTargetTopic: async (name: string) => {
      topic = name;
    },
    findTopicPartitionMetadata: () => leaders.map((leader, partitionId) => ({ partitionId, leader })),
    findBroker: async ({ nodeId }: { readonly nodeId: string }) => {
      asked.push(`${topic} ${nodeId}`);
      if (unreachable.includes(Number(nodeId))) {
        throw Object.assign(new Error("refused"), { name: "KafkaJSConnectionError" });
      }
      // Older than topics' ids.
      return { lookupRequest: () => ({ version: 6 }) };
    },
  });
  const connection: Partial<KafkaConnection> = {
    brokers: ["a:9092", "b:9092"],
    log: SILENT_LOG,
    createClient: () => {
      const made = { kafka: { [CREATE_CLUSTER]: () => cluster() }, destroy: () => void open.delete(made) };
      open.add(made);
      return made as unknown as ReturnType<KafkaConnection["createClient"]>;
    },
  };
  return { connection: connection as KafkaConnection, asked, open };
}

it("asks the leader of another partition where one cannot be reached", async () => {
  const { connection, asked } = connectionTo([1, -1, 2], [1]);
  const question = new TopicIdQuestion(connection, ["t"]);
  await expect(question.ask()).rejects.toMatchObject({ code: "broker_unavailable" });
  expect(await question.ask()).toEqual(new Map([["t", null]]));
  expect(asked).toEqual(["t 1", "t 2"]);
});

it("asks each leader of each topic in the end, whatever their numbers have in common", async () => {
  const { connection, asked } = connectionTo([1, 2], [1, 2]);
  const question = new TopicIdQuestion(connection, ["t", "u"]);
  for (let count = 0; count < 4; count += 1) await expect(question.ask()).rejects.toThrow();
  expect([...asked].sort()).toEqual(["t 1", "t 2", "u 1", "u 2"]);
});

it("waits where no partition has a leader", async () => {
  const question = new TopicIdQuestion(connectionTo([-1], []).connection, ["t"]);
  await expect(question.ask()).rejects.toMatchObject({ code: "broker_unavailable", retryable: true });
});

it("leaves no client open, whether its leader answered or not", async () => {
  const { connection, asked, open } = connectionTo([1, 2], [1]);
  expect(await readTopicIds(connection, ["t"])).toEqual(new Map([["t", null]]));
  expect([asked, open.size]).toEqual([["t 1", "t 2"], 0]);
});

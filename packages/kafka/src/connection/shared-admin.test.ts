/** Rules: SA1 to SA3 of shared-admin.ts. */
import type { Admin } from "kafkajs";
import { expect, it } from "vitest";
import { findPlaces } from "../consumer/place-search.ts";
import type { KafkaConnection } from "./connect.ts";
import type { KafkaClient } from "./kafka-client.ts";
import { SharedAdmin } from "./shared-admin.ts";

const TOPIC = "t";
/** The key under which kafkajs keeps the function that makes the cluster of an admin client. */
const CREATE_CLUSTER = Symbol("private:Kafka:createCluster");

/** An admin client with the offsets of `answer`, and the numbers of clients made and thrown away. */
function sharedAdmin(answer: () => Promise<unknown>, patienceMs: number) {
  const counts = { made: 0, destroyed: 0, asked: 0 };
  const admin = {
    connect: async () => {},
    fetchTopicOffsets: () => {
      counts.asked += 1;
      return answer();
    },
    fetchTopicMetadata: async () => ({ topics: [{ partitions: [{ partitionId: 0 }] }] }),
  };
  const createClient = (): KafkaClient => {
    counts.made += 1;
    const destroy = () => (counts.destroyed += 1);
    const kafka = {
      [CREATE_CLUSTER]: () => ({}),
      admin() {
        this[CREATE_CLUSTER]();
        return admin as unknown as Admin;
      },
    };
    return { kafka, destroy } as unknown as KafkaClient;
  };
  return { shared: new SharedAdmin({ createClient, brokers: ["b:1"], patienceMs }), counts };
}

/** As kafkajs does where a partition is in one half of its answer and not in the other. */
const takeApart = async () => [].map.call([0], () => (undefined as unknown as { offset: string }).offset);
const LED = async () => [{ partition: 0, low: "0", high: "9" }];

it("SA3: reports a partition that lost its leader as a retryable failure, once the patience is over", async () => {
  const { shared, counts } = sharedAdmin(takeApart, 0);
  await expect(shared.use((admin) => admin.fetchTopicOffsets(TOPIC))).rejects.toMatchObject({
    code: "broker_unavailable",
    retryable: true,
    cause: expect.any(TypeError),
  });
  await expect.poll(() => counts).toEqual({ made: 1, destroyed: 1, asked: 1 });
});

it("SA2: asks again within the patience, each time with a new client, and answers then", async () => {
  const answers = [takeApart, LED];
  const { shared, counts } = sharedAdmin(() => (answers.shift() ?? LED)(), 60_000);
  expect(await shared.use((admin) => admin.fetchTopicOffsets(TOPIC))).toEqual(await LED());
  expect(counts).toEqual({ made: 2, destroyed: 1, asked: 2 });
});

it("a consumer goes on searching its places while partitions lack a leader for longer than the patience", async () => {
  const answers = [takeApart, takeApart, LED];
  const { shared } = sharedAdmin(() => (answers.shift() ?? LED)(), 0);
  const [found, failures]: [unknown[], Error[]] = [[], []];
  await findPlaces([{ topic: TOPIC, partition: 0 }], {
    connection: {
      withAdmin: (use: (admin: Admin) => Promise<unknown>) => shared.use(use),
      log: { debug: () => {} },
    } as unknown as KafkaConnection,
    session: { committed: async (gained) => gained.map((each) => ({ ...each, offset: 7, metadata: null })) },
    groupId: "g",
    terms: { topicIds: new Map() },
    isCurrent: () => true,
    onAnswer: (places) => found.push(...places.map(({ place }) => place)),
    onFailure: (reason) => failures.push(reason),
  });
  expect([found, failures]).toEqual([[{ topic: TOPIC, partition: 0, offset: 7, metadata: null }], []]);
});

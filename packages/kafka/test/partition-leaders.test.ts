import { eventually } from "@posthaste/testkit/eventually";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { withDeadline } from "../src/connection/deadline.ts";
import { type PartitionLeaders, readPartitionLeaders } from "../src/producer/partition-leaders.ts";
import { connectTest } from "./harness.ts";

let topic: string;
let connection: KafkaConnection;
let leaders: PartitionLeaders;

beforeEach(async () => {
  topic = await createTopic(uniqueName("leaders"), { partitions: 2 });
  connection = connectTest({ adminPatienceMs: 200 });
});
afterEach(async () => {
  leaders.close();
  await connection.close();
  await deleteTopics(topic);
});

const refresh = () => withDeadline(leaders.refresh(), 10_000, "asking who leads");

it("the leaders of the only topic are asked for with an answer, also when it is that the topic is gone", async () => {
  leaders = await readPartitionLeaders(connection, [topic]);
  await deleteTopics(topic);
  await refresh();
  // Its state is kept: the leaders for its records are known again when it is back.
  expect(leaders.countOf(topic)).toBe(2);
  await createTopic(topic, { partitions: 3 });
  await eventually(async () => {
    await refresh();
    expect(leaders.countOf(topic)).toBe(3);
  });
});

import { eventually } from "@posthaste/testkit/eventually";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { followLog } from "../src/log/log-reader.ts";
import { createMember, writeRecords } from "./consumer-harness.ts";
import { connectTest } from "./harness.ts";

/** Of a Kafka that is newer than this package: no broker of today keeps such a batch. */
const CODEC_OF_TOMORROW = 5;

vi.mock("../src/wire/decompress.ts", async (load) => {
  const real = await load<typeof import("../src/wire/decompress.ts")>();
  const asTomorrow: typeof real.decompressRecords = (bytes, batch) =>
    real.decompressRecords(bytes, { ...batch, attributes: batch.attributes | CODEC_OF_TOMORROW });
  return { ...real, decompressRecords: asTomorrow };
});

const SENTENCE = "the batch at offset 0 is compressed by codec 5, which this version does not know";

let topic: string;
let connection: KafkaConnection;

beforeEach(async () => {
  topic = await createTopic(uniqueName("codec"));
  await writeRecords(topic, { count: 1, partitions: 1 });
  connection = connectTest();
});
afterEach(async () => {
  await connection.close();
  await deleteTopics(topic);
});

it("a batch of a codec that is not known ends a consumer once, with a sentence", async () => {
  const member = createMember({ groupId: topic, topics: [topic] });
  await member.consumer.start();
  await eventually(() => expect(member.failures).toHaveLength(1));
  expect(member.failures[0]).toMatchObject({ code: "internal", message: SENTENCE });
  await member.close();
  expect(member.failures).toHaveLength(1);
});

it("a batch of a codec that is not known ends a reader once, with a sentence", async () => {
  const failures: Error[] = [];
  const reader = await followLog(connection, {
    ...{ topic, partition: 0, from: "start" },
    onRecords: () => undefined,
    onFailure: (reason) => failures.push(reason),
  });
  await eventually(() => expect(failures).toHaveLength(1));
  expect(failures[0]).toMatchObject({ code: "internal", message: SENTENCE });
  await reader.close();
});

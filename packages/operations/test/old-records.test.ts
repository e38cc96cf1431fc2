import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findOldRecords } from "../src/old-records.ts";

const HOUR_MS = 60 * 60_000;
const RETENTION_MS = 7 * 24 * HOUR_MS;

let topics: TestTopics;

beforeAll(async () => {
  topics = await createTestTopics("operations");
});

afterAll(() => topics.remove());

it("finds the records that nobody finished once they have used half of their retention", async () => {
  const { connection, names, producer } = topics;
  const { deliveries, deliveryGroup } = names;
  const find = (laterMs: number) => findOldRecords(connection, names, Date.now() + laterMs);
  // A broker that never had a group makes the topic of their commits first.
  await eventually(async () => expect(await find(RETENTION_MS)).toEqual([]));
  for (const key of ["a", "b", "c"])
    await producer.send([{ topic: deliveries, key, value: Buffer.from("a delivery") }]);
  expect(await find(RETENTION_MS / 2 - HOUR_MS)).toEqual([]);
  expect(await find(RETENTION_MS / 2 + HOUR_MS)).toEqual([
    { topic: deliveries, records: 3, retentionMs: RETENTION_MS },
  ]);
  // The group finishes all of the first partition.
  const ends = await connection.withAdmin((admin) => admin.fetchTopicOffsets(deliveries));
  const [first] = ends;
  const finished = Number(first?.high);
  const partitions = [{ partition: first?.partition ?? 0, offset: String(finished) }];
  await connection.withAdmin((admin) => admin.setOffsets({ groupId: deliveryGroup, topic: deliveries, partitions }));
  const left = await find(RETENTION_MS / 2 + HOUR_MS);
  expect(left.map(({ records }) => records)).toEqual(finished === 3 ? [] : [3 - finished]);
});

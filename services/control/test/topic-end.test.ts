/** Rules: EN1 and EN4 of topic-end.ts. */
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { againMs, TopicEnd } from "../src/configuration/sources/topic-end.ts";

let topics: TestTopics;
beforeAll(async () => {
  topics = await createTestTopics("topic-end", { partitions: 1 });
});
afterAll(() => topics.remove());

const send = (count: number) =>
  topics.producer.send(
    Array.from({ length: count }, () => ({ topic: topics.names.events, key: "k", value: Buffer.from("v") })),
  );

it("EN1: begins a thousand records before the end, and again there when it falls behind", async () => {
  await send(1_500);
  const offsets: number[] = [];
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const end = new TopicEnd({
    ...{ connection: topics.connection, topic: topics.names.events },
    onRecord: async ({ offset }) => {
      offsets.push(offset);
      if (offset === 1_499) await held;
    },
  });
  await eventually(() => expect(offsets.at(-1)).toBe(1_499));
  expect(offsets[0]).toBeGreaterThanOrEqual(500);
  await send(8_000);
  goOn();
  expect(await end.reached(60_000)).toBe(true);
  await eventually(() => expect(offsets.at(-1)).toBe(9_499));
  expect(offsets.length).toBeLessThan(4_000);
  await send(1);
  await eventually(() => expect(offsets.at(-1)).toBe(9_500));
  await end.close();
});

it("says at once that it is not at the end when it is closed before", async () => {
  const end = new TopicEnd({
    ...{ connection: topics.connection, topic: topics.names.events },
    onRecord: () => new Promise(() => {}),
  });
  const reached = end.reached(3_600_000);
  await end.close();
  expect(await reached).toBe(false);
});

it("says when it is not at the end in time", async () => {
  const end = new TopicEnd({
    ...{ connection: topics.connection, topic: topics.names.events },
    onRecord: () => new Promise(() => {}),
  });
  expect(await end.reached(200)).toBe(false);
  await end.close();
});

it("EN4: begins more rarely the more often it failed before the end, and soon once it was there", async () => {
  const own = await createTestTopics("topic-end", { partitions: 1 });
  const { connection, names } = own;
  const sendOne = () => own.producer.send([{ topic: names.events, key: "k", value: Buffer.from("v") }]);
  await sendOne();
  const asked: number[] = [];
  let isRefused = true;
  const end = new TopicEnd({
    ...{ connection, topic: names.events },
    onRecord: async () => {
      if (isRefused) throw new Error("there is no such schema");
    },
    pauseMs: (failures) => {
      asked.push(failures);
      return 1;
    },
  });
  await eventually(() => expect(asked.slice(0, 3)).toEqual([1, 2, 3]));
  isRefused = false;
  expect(await end.reached(60_000)).toBe(true);
  const before = asked.length;
  isRefused = true;
  await sendOne();
  await eventually(() => expect(asked.slice(before, before + 3)).toEqual([0, 1, 2]));
  await end.close();
  await own.remove();
});

it("EN4: begins after two seconds, then after twice as long, after a minute at the most", () => {
  expect([0, 1, 2, 3, 5, 6, 100].map(againMs)).toEqual([2000, 2000, 4000, 8000, 32_000, 60_000, 60_000]);
});

/** Rules: TF3 of topic-follower.ts and MF3 of membership-follower.ts, over the real broker. */
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TopicFollower, type TopicFollowerOptions } from "../src/read-model/topic-follower.ts";
import { createLogWriter, deadLetterAt } from "./log-writer.ts";

let topics: TestTopics;

beforeAll(async () => {
  topics = await createTestTopics("follower", { partitions: 1 });
});
afterAll(() => topics.remove());

it("tells its owner of a topic that was made anew before it began to read", async () => {
  const { deadLetters } = topics.names;
  const writer = await createLogWriter(topics);
  await writer.deadLetters([deadLetterAt(0, { messageId: "m" }), deadLetterAt(1, { messageId: "n" })]);
  const [taken, told]: [unknown[], unknown[]] = [[], []];
  const options = {
    ...{ topic: deadLetters, journal: "dead_letters", topicId: "AAAAAAAAAAAAAAAAAAAAAQ" },
    store: {
      start: {
        positions: { dead_letters: [{ partition: 0, next: 1 }] },
        bounds: { dead_letters: { maxEntries: 1000, keepMs: 1000 } },
      },
      take: async (...args: readonly unknown[]) => taken.push(args),
    },
    ...{ codec: await topics.openCodec("dead-letter"), unreadable: { put: async () => {} }, unknownSchemaMs: 0 },
    ...{ toEntries: () => ({}), onRemade: (reason: unknown) => told.push(reason) },
  };
  // As much of the store as a follower uses.
  const follower = new TopicFollower(topics.connection, options as unknown as TopicFollowerOptions<unknown>);
  try {
    await eventually(() => expect(told[0]).toMatchObject({ code: "offset_out_of_range" }), { timeoutMs: 30_000 });
    expect(taken).toEqual([]);
  } finally {
    await follower.close();
  }
});

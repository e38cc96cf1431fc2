/** Rules: TF3 of topic-follower.ts and MF3 of membership-follower.ts, over the real broker. */
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { MembershipFollower, type MembershipFollowerOptions } from "../src/audiences/membership-follower.ts";
import { TopicFollower, type TopicFollowerOptions } from "../src/read-model/topic-follower.ts";
import { createLogWriter, deadLetterAt } from "./log-writer.ts";

/** Of a topic that is no more. */
const OLD_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ";

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
    ...{ topic: deadLetters, journal: "dead_letters", topicId: OLD_TOPIC_ID },
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
    await eventually(() => expect(told[0]).toMatchObject({ code: "offset_out_of_range" }));
    expect(taken).toEqual([]);
  } finally {
    await follower.close();
  }
});

it("empties the audiences' table of a topic made anew before its first reader began, and reads its start", async () => {
  const { producer, names, openCodec } = topics;
  const about = { audienceId: "aud_1", kind: "audience", sourceId: "src_1", trait: "a", revision: 1, bornRevision: 1 };
  const said = { userId: "ada", valueJson: "true", changedAtMs: 1 };
  const codec = await openCodec<MembershipRecord>("membership");
  const record = { ...about, ...said } as MembershipRecord;
  await producer.send([{ topic: names.audiences, key: "aud_1:ada", value: codec.encode(record), partition: 0 }]);
  const done: string[] = [];
  const options = {
    ...{ topic: names.audiences, topicId: OLD_TOPIC_ID, codec, unknownSchemaMs: 0, onTaken: () => {} },
    table: {
      start: { positions: [{ partition: 0, next: 1 }] },
      clear: async () => done.push("cleared"),
      take: async (_: number, next: number) => done.push(`taken to ${next}`),
    },
  };
  // As much of the table as a follower uses.
  const follower = new MembershipFollower(topics.connection, options as unknown as MembershipFollowerOptions);
  try {
    await eventually(() => expect(done).toEqual(["cleared", "taken to 1"]));
  } finally {
    await follower.close();
  }
});

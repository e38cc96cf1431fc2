/** Rules: TF3 and TF6 of topic-follower.ts and MF3 of membership-follower.ts, and how much both take at once. */
import { randomBytes } from "node:crypto";
import { MembershipFollower, type MembershipFollowerOptions } from "@posthaste/audiences/membership-follower";
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { TopicFollower, type TopicFollowerOptions } from "@posthaste/read-model/topic-follower";
import { createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { watchFetches } from "@posthaste/testkit/fetch-watch";
import { afterAll, beforeAll, expect, it } from "vitest";

/** Of a topic that is no more. */
const OLD_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ";

let topics: TestTopics;

/** One call of the store by a follower, with the next offset. */
interface StoreTake {
  readonly next: number;
}

beforeAll(async () => {
  topics = await createTestTopics("follower", { partitions: 1 });
});
afterAll(() => topics.remove());

/** A follower of dead letters; an answer to each call of its store, and to its owner's. */
async function followDeadLetters(
  connection: KafkaConnection,
  { topicId, next, held }: { readonly topicId: string; readonly next: number; readonly held?: Promise<void> },
) {
  const [taken, reported]: [StoreTake[], unknown[]] = [[], []];
  const options = {
    ...{ topic: topics.names.deadLetters, projection: "dead_letters", topicId },
    store: {
      start: {
        positions: { dead_letters: [{ partition: 0, next }] },
        bounds: { dead_letters: { maxEntries: 1000, keepMs: 1000 } },
      },
      take: async (_: string, take: StoreTake) => {
        taken.push(take);
        await held;
      },
    },
    ...{ codec: await topics.openCodec("dead-letter"), unreadable: { put: async () => {} }, unknownSchemaMs: 0 },
    ...{ toEntries: () => ({}), onRemade: (reason: unknown) => reported.push(reason) },
  };
  // As much of the store as a follower uses.
  const follower = new TopicFollower(connection, options as unknown as TopicFollowerOptions<unknown>);
  return { follower, taken, reported };
}

it("tells its owner of a topic that was made anew before it began to read", async () => {
  const writer = await createLogWriter(topics);
  await writer.deadLetters([deadLetterAt(0, { messageId: "m" }), deadLetterAt(1, { messageId: "n" })]);
  const { follower, taken, reported } = await followDeadLetters(topics.connection, { topicId: OLD_TOPIC_ID, next: 1 });
  try {
    await eventually(() => expect(reported[0]).toMatchObject({ code: "offset_out_of_range" }));
    expect(taken).toEqual([]);
  } finally {
    await follower.close();
  }
});

it("takes half a megabyte of a partition at once, however much waits there", async () => {
  const writer = await createLogWriter(topics);
  const [{ end = 0 } = {}] = await topicOffsets(topics.connection, topics.names.deadLetters);
  const count = 4;
  for (let index = 0; index < count; index += 1) {
    await writer.deadLetters([deadLetterAt(index, { messageId: `large ${index}`, body: randomBytes(300_000) })]);
  }
  const watch = watchFetches(topics.connection);
  const { follower, taken } = await followDeadLetters(watch.connection, { topicId: "", next: end });
  try {
    await eventually(() => expect(taken.at(-1)?.next).toBe(end + count));
    expect(Math.max(...watch.fetches.map(({ maxBytes }) => maxBytes))).toBe(512 * 1024);
    // One batch in each call: two batches exceed the limit of a fetch.
    expect(taken.map(({ next }) => next)).toEqual(Array.from({ length: count }, (_, index) => end + index + 1));
  } finally {
    await follower.close();
  }
});

it("TF6: says how far its first reading is until all that stood there was read", async () => {
  const writer = await createLogWriter(topics);
  const [{ end = 0 } = {}] = await topicOffsets(topics.connection, topics.names.deadLetters);
  await writer.deadLetters([1, 2, 3].map((n) => deadLetterAt(n, { messageId: `first ${n}` })));
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  const { follower } = await followDeadLetters(topics.connection, { topicId: "", next: end, held });
  try {
    expect(follower.reading).toBeNull();
    await eventually(() => expect(follower.reading).toEqual({ left: 3, of: 3 }));
    goOn();
    await eventually(() => expect([follower.behind, follower.reading]).toEqual([0, null]));
  } finally {
    goOn();
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

import { SILENT_LOG } from "@posthaste/core/log";
import { expect, it, vi } from "vitest";
import type { KafkaConnection } from "../connection/connect.ts";
import { TopicReaders, type TopicReadersOptions } from "./topic-readers.ts";

vi.mock("./log-reader.ts", () => ({ followLog: () => Promise.resolve() }));

const PARTITIONS = [0, 1];

/** Follows an empty topic whose partitions have leaders by and by: none at the first look. */
function follow(options: Partial<TopicReadersOptions>) {
  let looks = 0;
  const admin = {
    fetchTopicOffsets: async () => {
      looks += 1;
      return PARTITIONS.slice(0, looks - 1).map((partition) => ({ partition, low: "7", high: "7" }));
    },
    fetchTopicMetadata: async () => ({
      topics: [{ partitions: PARTITIONS.map((partitionId) => ({ partitionId })) }],
    }),
  };
  const connection = { log: SILENT_LOG, withAdmin: (use: (of: typeof admin) => unknown) => use(admin) };
  const readers = new TopicReaders(connection as unknown as KafkaConnection, {
    ...{ topic: "t", topicId: null, maxBytes: 1, message: "behind", lookMs: 1 },
    ...{ from: () => 0, onRecords: () => {}, ...options },
  });
  return { readers, looks: () => looks };
}

it.each([
  ["with a leader", {}, 2],
  ["without one too, where that is asked for", { awaitsLeaderless: true }, 3],
])("what stood in the topic is read once a look found partitions, %s", async (_, options, after) => {
  const { readers, looks } = follow(options);
  await readers.caughtUp;
  expect(looks()).toBe(after);
  readers.close();
});

it("is no more waited for once the readers are closed", async () => {
  const { readers } = follow({});
  readers.close();
  await expect(readers.caughtUp).rejects.toMatchObject({ code: "closed" });
});

import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { SourceRecord } from "@posthaste/contracts/source-codec";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import { createTestTopics } from "../src/test-topics.ts";

const SOURCE = { id: "s", revision: 1, name: "S", kind: "web", enabled: true, createdAtMs: 0, updatedAtMs: 0 } as const;

it("makes the whole catalogue under a prefix of its own and leaves nothing behind", async () => {
  const topics = await createTestTopics("bed", { partitions: 3, retryDelaysMs: [10_000] });
  const list = () => withAdmin((admin) => admin.listTopics());
  expect(await list()).toEqual(
    expect.arrayContaining([topics.names.events, topics.names.sourceConfig, `${topics.names.retryPrefix}10s`]),
  );
  expect(topics.producer.partitionsOf(topics.names.events)).toBe(3);
  await topics.remove();
  await eventually(async () => {
    expect((await list()).filter((topic) => topic.startsWith(topics.prefix))).toEqual([]);
  });
});

it("hands on what stands in a topic and what comes to it, without the tombstones", async () => {
  const { names, openCodec, producer, follow, remove } = await createTestTopics("bed");
  const topic = names.sourceConfig;
  const codec = await openCodec<SourceRecord>("source");
  const write = (key: string, revision: number, value: Buffer | null) =>
    producer.send([{ topic, key, value, headers: { [REVISION_HEADER]: String(revision) } }]);
  const encode = (id: string) => codec.encode({ ...SOURCE, id, writeKeys: [] });
  const seen: string[] = [];
  await write("a", 1, encode("a"));
  await follow<SourceRecord>(topic, ({ id }, { offset }) => seen.push(`${id} at ${offset}`));
  await write("a", 2, null);
  await write("b", 1, encode("b"));
  await eventually(() => expect(seen).toEqual(["a at 0", "b at 2"]));
  await remove();
});

it("refuses to follow what it has not made, and hands on bytes where a topic has no schema", async () => {
  const { names, follow, producer, remove } = await createTestTopics("bed");
  await expect(follow<DeadLetter>("elsewhere", () => undefined)).rejects.toThrow("elsewhere is not in the catalogue");
  const seen: string[] = [];
  await follow<Buffer>(names.unreadable, (value) => seen.push(String(value)));
  await producer.send([{ topic: names.unreadable, key: null, value: Buffer.from("any bytes") }]);
  await eventually(() => expect(seen).toEqual(["any bytes"]));
  await remove();
});

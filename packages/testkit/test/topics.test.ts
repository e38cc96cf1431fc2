import { expect, it } from "vitest";
import { withAdmin } from "../src/broker.ts";
import { eventually } from "../src/eventually.ts";
import { createTopic, deleteTopics, uniqueName, withTopic } from "../src/topics.ts";

const topics = () => withAdmin((admin) => admin.listTopics());

it("TT1: gives no two callers the same name", () => {
  const names = Array.from({ length: 1000 }, () => uniqueName("orders"));
  expect(new Set(names).size).toBe(1000);
  expect(names[0]).toMatch(/^t-orders-[0-9a-f]{12}$/);
});

it("makes a topic with the partitions and settings that were asked for", async () => {
  const topic = await createTopic(uniqueName("made"), { partitions: 3, settings: { "cleanup.policy": "compact" } });
  try {
    const metadata = await withAdmin((admin) => admin.fetchTopicMetadata({ topics: [topic] }));
    expect(metadata.topics[0]?.partitions).toHaveLength(3);
  } finally {
    await deleteTopics(topic);
  }
});

it("TT2: removes a test's topic after it, also when the test fails", async () => {
  let made = "";
  const failing = withTopic("removed", {}, async (topic) => {
    made = topic;
    expect(await topics()).toContain(topic);
    throw new Error("the test failed");
  });
  await expect(failing).rejects.toThrow("the test failed");
  await eventually(async () => expect(await topics()).not.toContain(made));
});

it("deletes by prefix and leaves the others alone", async () => {
  const [ours, theirs] = [uniqueName("ours"), uniqueName("theirs")];
  await createTopic(`${ours}.a`);
  await createTopic(`${ours}.b`);
  await createTopic(theirs);
  await deleteTopics(ours);
  await eventually(async () => {
    const left = (await topics()).filter((topic) => topic.startsWith(ours) || topic === theirs);
    expect(left).toEqual([theirs]);
  });
  await deleteTopics(theirs);
});

import { withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterAll, afterEach, expect, it } from "vitest";
import { allNames, createMember, type Member, type MemberOptions, writeRecords } from "./consumer-harness.ts";

const prefix = uniqueName("window");
const members: Member[] = [];
let made = 0;

afterEach(async () => {
  await Promise.all(members.splice(0).map((member) => member.close()));
});
afterAll(() => deleteTopics(prefix));

async function topicOf(partitions: number): Promise<string> {
  made += 1;
  return createTopic(`${prefix}-${made}`, { partitions });
}

async function startMember(options: MemberOptions): Promise<Member> {
  const member = createMember(options);
  members.push(member);
  await member.consumer.start();
  return member;
}

async function committedOffsets(groupId: string, topic: string): Promise<number[]> {
  const [found] = await withAdmin((admin) => admin.fetchOffsets({ groupId, topics: [topic] }));
  return (found?.partitions ?? []).sort((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset));
}

it("runs every record once and commits the end of each partition", async () => {
  const topic = await topicOf(3);
  await writeRecords(topic, { count: 3000, partitions: 3 });
  const member = await startMember({ groupId: topic, topics: [topic], workMs: 5 });
  await eventually(() => expect(member.finished.length).toBe(3000));
  expect([...member.finished].sort()).toEqual(allNames(3000, 3).sort());
  await eventually(async () => expect(await committedOffsets(topic, topic)).toEqual([1000, 1000, 1000]));
  expect(member.failures).toEqual([]);
});

/** A second sync of a whole membership writes one identify for each change, and no other. */
import type { Event } from "@posthaste/core/event/event";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { sendLines } from "./uploads.ts";

let topics: TestTopics;
let control: TestControl;
let sourceId: string;
const events: Event[] = [];

beforeAll(async () => {
  topics = await createTestTopics("whole");
  const env = { POSTHASTE_AUDIENCE_RATE: "1000000", POSTHASTE_AUDIENCE_LEASE: "10m" };
  control = await startTestControl(topics, { env });
  await topics.follow<Event>(topics.names.events, (event) => events.push(event));
  sourceId = (await control.call("POST", "/v1/sources", { name: "shop", kind: "server" })).body.id;
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

/** Resolves when nothing waits to be told, and every event that stands in its topic was read. */
async function settled(id: string): Promise<void> {
  const patience = { timeoutMs: 60_000, intervalMs: 50 };
  await eventually(async () => {
    expect((await control.call("GET", `/v1/audiences/${id}`)).body.identifiesWaiting).toBe(0);
  }, patience);
  const offsets = await topicOffsets(topics.connection, topics.names.events);
  const written = offsets.reduce((sum, { end }) => sum + end, 0);
  await eventually(() => expect(events).toHaveLength(written), patience);
}

it("with 1,000 changes becomes exactly 1,000 identifies", { timeout: 180_000 }, async () => {
  const { id } = (await control.call("POST", "/v1/audiences", { name: "Whole", sourceId })).body;
  const path = `/v1/audiences/${id}/members`;
  const members = (first: number) => Array.from({ length: 4000 }, (_, index) => `user-${first + index}`);
  expect((await sendLines(control, path, members(0))).body).toEqual({ added: 4000, removed: 0, unchanged: 0 });
  await settled(id);
  expect(events).toHaveLength(4000);
  expect((await sendLines(control, path, members(500))).body).toEqual({ added: 500, removed: 500, unchanged: 3500 });
  await settled(id);
  const changes = events.slice(4000).map(({ userId, traitsJson }) => `${userId} ${traitsJson}`);
  const expected = Array.from({ length: 500 }, (_, index) => [
    `user-${index} {"whole":false}`,
    `user-${4000 + index} {"whole":true}`,
  ]);
  expect(changes).toHaveLength(1000);
  expect(changes.sort()).toEqual(expected.flat().sort());
});

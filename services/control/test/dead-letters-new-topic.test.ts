/** A topic of dead letters that is made anew: Z7 of `replay-run.ts`, dead-letter-topic.ts. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { createLogWriter, deadLetterAt, type LogWriter } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { remakeTopic } from "@posthaste/testkit/topics";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

const PATIENCE = { timeoutMs: 60_000, intervalMs: 200 };

let topics: TestTopics;
let control: TestControl;
let writer: LogWriter;
let destinationId: string;
const sent: string[] = [];

beforeAll(async () => {
  topics = await createTestTopics("control", { partitions: 1 });
  writer = await createLogWriter(topics);
  control = await startTestControl(topics);
  await topics.follow<Delivery>(topics.names.deliveries, ({ messageId }) => sent.push(messageId));
  const settings = { urls: [{ url: "https://a.example/hook" }] };
  const input = { type: "Webhooks", name: "d", sourceIds: [], enabled: true, settings };
  destinationId = (await control.call("POST", "/v1/destinations", input)).body.id;
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const addDeadLetters = (name: string, count: number) =>
  writer.deadLetters(
    Array.from({ length: count }, (_, n) => deadLetterAt(n, { destinationId, messageId: `${name}-${n}` })),
  );
const plan = async (what: "replay" | "purge", filter: object) =>
  (await control.call("POST", `/v1/dead-letters/${what}`, { destinationId, dryRun: true, ...filter })).body;
const listed = async (): Promise<string[]> =>
  (await control.call("GET", "/v1/dead-letters?limit=200")).body.data.map(
    ({ messageId }: { messageId: string }) => messageId,
  );

it("has nothing of what was planned, purged or replayed in the old one", async () => {
  await addDeadLetters("old", 6);
  await eventually(async () => expect(await listed()).toHaveLength(6));
  const replayed = await plan("replay", { messageIds: ["old-0", "new-0"] });
  await control.call("POST", "/v1/replays", { plan: replayed.plan });
  await eventually(async () => {
    expect((await control.call("GET", `/v1/replays/${replayed.plan}`)).body).toMatchObject({ state: "done" });
  });
  const purged = await plan("purge", { userId: "user-7", messageIds: ["old-1", "new-1"] });
  await control.call("POST", "/v1/dead-letters/purge", { plan: purged.plan });
  expect(await listed()).toHaveLength(5);
  const left = await plan("replay", {});
  expect(left).toMatchObject({ matched: 4, leftOut: { replayedBefore: 1, purged: 1 } });
  const { deadLetters } = topics.names;
  await remakeTopic(deadLetters);
  await eventually(() => addDeadLetters("new", 8), PATIENCE);

  await eventually(async () => expect((await plan("replay", {})).matched).toBe(8), PATIENCE);
  await eventually(
    async () => expect((await listed()).sort()).toEqual(Array.from({ length: 8 }, (_, n) => `new-${n}`)),
    PATIENCE,
  );
  await control.call("POST", "/v1/replays", { plan: left.plan });
  await eventually(async () => {
    const { body } = await control.call("GET", `/v1/replays/${left.plan}`);
    expect(body).toMatchObject({ state: "failed", replayed: 0, endedAt: expect.any(String) });
  }, PATIENCE);
  expect(sent).toEqual(["old-0"]);
}, 120_000);

it("is read from its start where it was made anew while no control ran", async () => {
  const folder = await mkdtemp(join(tmpdir(), "letters-"));
  const env = { POSTHASTE_CONTROL_DATA_DIR: folder };
  const { deadLetters } = topics.names;
  const first = await startTestControl(topics, { env });
  await eventually(
    async () => expect((await first.call("GET", "/v1/dead-letters")).body.complete).toBe(true),
    PATIENCE,
  );
  await first.stop();
  await remakeTopic(deadLetters);
  await eventually(() => addDeadLetters("newest", 12), PATIENCE);
  const next = await startTestControl(topics, { env });
  await eventually(async () => {
    const { body } = await next.call("GET", "/v1/dead-letters?limit=200");
    const names = body.data.map(({ messageId }: { messageId: string }) => messageId).sort();
    expect(names).toEqual(Array.from({ length: 12 }, (_, n) => `newest-${n}`).sort());
  }, PATIENCE);
  await next.stop();
  await rm(folder, { recursive: true, force: true });
}, 120_000);

/** RR2 of `replay-runner.ts` at a rebalance, over the real broker. */
import { decodeProgress } from "@posthaste/contracts/headers";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

/** Some minutes of them, of which a few seconds are needed. */
const [DEAD_LETTERS, RATE] = [3000, 20];
/** A machine that stands still longer than a rebalance waits makes a hand-over a takeover. */
const TRIES = 5;

let topics: TestTopics;
let control: TestControl;
let destinationId: string;
/** Message ids as they were sent, by replay. */
const sentBy = new Map<string, string[]>();
const sentOf = (id: string): readonly string[] => sentBy.get(id) ?? [];

beforeAll(async () => {
  topics = await createTestTopics("control");
  control = await startTestControl(topics);
  await topics.follow<Delivery>(topics.names.deliveries, ({ messageId }, { headers }) => {
    const id = decodeProgress(headers).replay?.id ?? "";
    sentBy.set(id, [...sentOf(id), messageId]);
  });
  const settings = { urls: [{ url: "https://a.example/hook" }] };
  const input = { type: "Webhooks", name: "handed over", sourceIds: [], enabled: true, settings };
  destinationId = (await control.call("POST", "/v1/destinations", input)).body.id;
  const writer = await createLogWriter(topics);
  await writer.deadLetters(
    Array.from({ length: DEAD_LETTERS }, (_, n) => deadLetterAt(5, { destinationId, messageId: `${n}` })),
  );
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const get = async (id: string) => (await control.call("GET", `/v1/replays/${id}`)).body;

/** Runs a replay that another process joins midway; answers its final state and its sent deliveries. */
async function replayThroughRebalance() {
  const planned = await control.call("POST", "/v1/replays", { dryRun: true, again: true, destinationId });
  const id: string = planned.body.plan;
  expect(planned.body.matched).toBe(DEAD_LETTERS);
  await control.call("POST", "/v1/replays", { plan: id, ratePerSecond: RATE });
  await eventually(() => expect(sentOf(id).length).toBeGreaterThan(10));
  const other = await startTestControl(topics);
  try {
    // Whichever of the two goes on, it does so as a runner of its own.
    const isGoneOnWith = (each: TestControl) =>
      each.logged().includes(`"event":"replay_run","replayId":"${id}","generation":2`);
    await eventually(() => expect([control, other].some(isGoneOnWith)).toBe(true));
    const atHandOver = sentOf(id).length;
    await eventually(() => expect(sentOf(id).length).toBeGreaterThan(atHandOver + 10));
    expect((await control.call("POST", `/v1/replays/${id}/cancel`)).status).toBe(200);
    const ended = await eventually(async () => {
      const replay = await get(id);
      expect(replay).toMatchObject({ state: "cancelled", endedAt: expect.any(String) });
      return replay as { readonly takeovers: number; readonly replayed: number };
    });
    await eventually(() => expect(sentOf(id).length).toBeGreaterThanOrEqual(ended.replayed));
    return { ...ended, sent: sentOf(id) };
  } finally {
    await other.stop();
  }
}

/** Waits until the group of runners is at rest with so many of them. */
async function groupOf(size: number): Promise<void> {
  const { connection, names } = topics;
  await eventually(async () => {
    const { groups } = await connection.withAdmin((admin) => admin.describeGroups([names.replaysGroup]));
    expect(groups.map(({ state, members }) => [state, members.length])).toEqual([["Stable", size]]);
  });
}

it("RR2: after another has joined and left, the one that stayed carries out what is asked", async () => {
  await groupOf(1);
  const other = await startTestControl(topics);
  await groupOf(2);
  await other.stop();
  await groupOf(1);
  const asked = { again: true, destinationId, messageIds: ["0", "1"] };
  const { id } = (await control.call("POST", "/v1/replays", asked)).body;
  await eventually(async () => expect(await get(id)).toMatchObject({ state: "done", replayed: 2 }));
});

it("a rebalance hands a running replay over behind all that was sent: nothing goes twice", {
  timeout: 600_000,
}, async () => {
  let last = await replayThroughRebalance();
  for (let more = 1; last.takeovers > 0 && more < TRIES; more += 1) last = await replayThroughRebalance();
  const { takeovers, replayed, sent: ids } = last;
  expect({ takeovers, sent: ids.length, messages: new Set(ids).size }).toEqual({
    takeovers: 0,
    sent: replayed,
    messages: replayed,
  });
});

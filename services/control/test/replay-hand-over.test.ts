/** RR2 of `replay-runner.ts` at a rebalance, over the real broker. */
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { createLogWriter, deadLetterAt } from "./log-writer.ts";

const LETTERS = 3000;
/** A machine that stands still longer than a rebalance waits makes a hand-over a takeover. */
const TRIES = 5;

let topics: TestTopics;
let control: TestControl;
let destinationId: string;
/** Message ids as they were sent, of whichever replay. */
const sent: string[] = [];

beforeAll(async () => {
  topics = await createTestTopics("control");
  control = await startTestControl(topics);
  await topics.follow<Delivery>(topics.names.deliveries, ({ messageId }) => void sent.push(messageId));
  const settings = { urls: [{ url: "https://a.example/hook" }] };
  const input = { type: "Webhooks", name: "handed over", sourceIds: [], enabled: true, settings };
  destinationId = (await control.call("POST", "/v1/destinations", input)).body.id;
  const writer = await createLogWriter(topics);
  await writer.deadLetters(
    Array.from({ length: LETTERS }, (_, n) => deadLetterAt(5, { destinationId, messageId: `${n}` })),
  );
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const get = async (id: string) => (await control.call("GET", `/v1/replays/${id}`)).body;

/** A replay in whose middle another process joins; answers it as it ended, and what it sent. */
async function replayThroughRebalance() {
  const before = sent.length;
  const planned = await control.call("POST", "/v1/dead-letters/replay", { dryRun: true, again: true, destinationId });
  const id: string = planned.body.plan;
  expect(planned.body.matched).toBe(LETTERS);
  await control.call("POST", "/v1/dead-letters/replay", { plan: id, ratePerSecond: 50 });
  await eventually(() => expect(sent.length - before).toBeGreaterThan(20));
  const other = await startTestControl(topics);
  try {
    // Whichever of the two goes on, it does so as a runner of its own.
    const isGoneOnWith = (each: TestControl) =>
      each.logged().includes(`"event":"replay_run","replayId":"${id}","generation":2`);
    await eventually(() => expect([control, other].some(isGoneOnWith)).toBe(true));
    const atHandOver = sent.length;
    await eventually(() => expect(sent.length).toBeGreaterThan(atHandOver + 20));
    expect((await control.call("POST", `/v1/replays/${id}/cancel`)).status).toBe(200);
    const ended = await eventually(async () => {
      const replay = await get(id);
      expect(replay).toMatchObject({ state: "cancelled", endedAt: expect.any(String) });
      return replay as { readonly takeovers: number; readonly replayed: number };
    });
    await eventually(() => expect(sent.length - before).toBeGreaterThanOrEqual(ended.replayed));
    return { ...ended, sent: sent.slice(before) };
  } finally {
    await other.stop();
  }
}

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

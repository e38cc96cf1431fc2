/**
 * Delivery processes that are gone, and processes whose clock is off, by their heartbeats in a real topic. Rules: HB1,
 * HB4 and HB6 of health-book.ts.
 */
import type { HealthRecord } from "@posthaste/core/health/health-record";
import { attemptAt, createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { createHealthWriter, type HealthWriter, urlHealth } from "./health-writer.ts";

const URL_A = "https://a.example/hook";
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** For a control that is starting, and asked for a plan each time. */
const PATIENCE = { timeoutMs: 90_000, intervalMs: 500 };

let topics: TestTopics;
let control: TestControl;
let health: HealthWriter;
/** How much control's clock is ahead. */
let aheadMs = 0;
/** Where control's clock stands still; null while it goes. */
let standsAtMs: number | null = null;

const clock = {
  nowMs: () => standsAtMs ?? Date.now() + aheadMs,
  monotonicMs: () => performance.now() + aheadMs,
};

beforeAll(async () => {
  topics = await createTestTopics("control");
  control = await startTestControl(topics, { clock });
  health = await createHealthWriter(topics);
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

async function makeDestination(name: string): Promise<string> {
  const input = { type: "Webhooks", name, enabled: true, sourceIds: [], settings: { urls: [{ url: URL_A }] } };
  return (await control.call("POST", "/v1/destinations", input)).body.id;
}

const read = async (path: string) => (await control.call("GET", path)).body;
const healthOf = (id: string) => read(`/v1/health/destinations/${id}`);
const failure = (atMs: number) => ({ atMs, outcome: "retryable", status: 503, error: null, durationMs: 12 }) as const;

/**
 * Makes a plan of some dead letters. The runner then removes outdated records if its last look was a minute ago.
 */
async function wakeRunner(): Promise<void> {
  const { body } = await control.call("POST", "/v1/replays", { dryRun: true });
  expect(body.plan).toMatch(/^rpl_/);
}

it.each([-3, 3])("HB4: one whose clock is %i min off counts, and says when something was by control's", async (off) => {
  const offMs = off * MINUTE_MS;
  const id = await makeDestination("Off");
  const nowMs = Date.now();
  const answer = failure(nowMs + offMs);
  const said = { failedAtMs: nowMs + offMs, failingSinceMs: nowMs + offMs, retryable: 3 };
  await health.say(`off${off}`, id, { ...said, urls: [urlHealth(URL_A, { answer })] }, nowMs + offMs);
  await eventually(async () => {
    const reported = await healthOf(id);
    expect(reported).toMatchObject({ state: "failing", processes: 1, attempts: 3 });
    for (const time of [reported.since, reported.reason.time]) {
      expect(Math.abs(Date.parse(time) - nowMs)).toBeLessThan(MINUTE_MS);
    }
  });
});

it("HB1, HB6: one without a word for a minute counts no more, and is removed after an hour; its attempts stay", async () => {
  const id = await makeDestination("Gone");
  const removed: string[] = [];
  await topics.followTable<HealthRecord>(topics.names.destinationHealth, (key, record) => {
    if (record === null) removed.push(key);
  });
  const open = { breaker: "open", openSinceMs: 1, nextProbeMs: 1, answer: failure(1) } as const;
  const saidAtMs = Date.now();
  standsAtMs = saidAtMs;
  await health.say("killed", id, { urls: [urlHealth(URL_A, open)] }, saidAtMs);
  await health.sayProcess("killed", {}, saidAtMs);
  await eventually(async () => expect((await healthOf(id)).state).toBe("open"));
  standsAtMs = saidAtMs + 55 * SECOND_MS;
  expect((await healthOf(id)).state).toBe("open");
  standsAtMs = saidAtMs + 65 * SECOND_MS;
  expect(await healthOf(id)).toMatchObject({ state: "healthy", processes: 0 });
  const { schedule } = await read("/v1/status");
  expect(schedule).toBeNull();
  expect(removed).toEqual([]);
  const writer = await createLogWriter(topics);
  await writer.deadLetters([deadLetterAt(1, { destinationId: id })]);
  const failed = attemptAt(1, { destinationId: id, outcome: "retryable" });
  await writer.attempts([failed]);
  await control.stop();
  standsAtMs = null;
  aheadMs = 62 * MINUTE_MS;
  control = await startTestControl(topics, { clock });
  const keys = [`${id}:killed`, "process:killed"];
  await eventually(async () => {
    // The runner may have looked already, before control had read the process's records.
    aheadMs += 2 * MINUTE_MS;
    await wakeRunner();
    expect(removed).toEqual(expect.arrayContaining(keys));
  }, PATIENCE);
  await eventually(async () => {
    const since = new Date(failed.startedAtMs + (failed.urls[0]?.durationMs ?? 0)).toISOString();
    expect(await healthOf(id)).toMatchObject({ state: "failing", since, processes: 0, complete: true });
  });
});

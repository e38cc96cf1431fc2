/**
 * The health of destinations and the status, by the reports of delivery processes in a real topic. Rules: HB1 of
 * health-book.ts, HJ1 of health-state.ts.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LastAnswer } from "@posthaste/core/health/health-record";
import { attemptAt, createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { createHealthWriter, type HealthWriter, NO_HEALTH, urlHealth } from "./health-writer.ts";

const URL_A = "https://a.example/hook";
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

let topics: TestTopics;
let control: TestControl;
let health: HealthWriter;
let sourceId: string;
const folders: string[] = [];
let folder: string;
/** How much control's clock is ahead. */
let aheadMs = 0;
/** Where control's clock stands still; null while it goes. */
const standsAtMs: number | null = null;

const clock = {
  nowMs: () => standsAtMs ?? Date.now() + aheadMs,
  monotonicMs: () => performance.now() + aheadMs,
};
const start = () => startTestControl(topics, { clock, env: { POSTHASTE_CONTROL_DATA_DIR: folder } });

beforeAll(async () => {
  topics = await createTestTopics("control");
  await useNewFolder();
  control = await start();
  health = await createHealthWriter(topics);
  sourceId = (await control.call("POST", "/v1/sources", { name: "Shop", kind: "web" })).body.id;
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
  for (const each of folders) await rm(each, { recursive: true });
});

/** Makes a new data folder for control, used from its next start on. */
async function useNewFolder(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "posthaste-health-"));
  folders.push(folder);
}

async function makeDestination(name: string, enabled = true): Promise<string> {
  const settings = { urls: [{ url: URL_A }, { url: "https://b.example/hook" }] };
  const input = { type: "Webhooks", name, enabled, sourceIds: [sourceId], settings };
  return (await control.call("POST", "/v1/destinations", input)).body.id;
}

const read = async (path: string) => (await control.call("GET", path)).body;
const healthOf = (id: string) => read(`/v1/health/destinations/${id}`);
const failure = (atMs: number, over: Partial<LastAnswer> = {}): LastAnswer => ({
  ...{ atMs, outcome: "retryable", status: 503, error: null, durationMs: 12 },
  ...over,
});
const latencies = (bucket: number, count: number) =>
  NO_HEALTH.latencies.map((_, index) => (index === bucket ? count : 0));

describe("the health of a destination", () => {
  it("is the sum of what two delivery processes say, each URL's last answer included", async () => {
    const id = await makeDestination("Summed");
    const nowMs = Date.now();
    await health.say("one", id, {
      ...{ delivered: 60, deliveredAtMs: nowMs, waiting: 3, latencies: latencies(0, 60) },
      urls: [urlHealth(URL_A, { inFlight: 2, answer: failure(nowMs - 50, { outcome: "delivered", status: 200 }) })],
    });
    await health.say("two", id, {
      ...{ delivered: 38, permanent: 2, deliveredAtMs: nowMs, waiting: 4, latencies: latencies(10, 40) },
      failures: [
        { url: URL_A, answer: "500", count: 1 },
        { url: URL_A, answer: "timeout", count: 5 },
      ],
      urls: [urlHealth(URL_A, { inFlight: 5, answer: failure(nowMs - 20, { status: 500 }) })],
    });
    await eventually(async () => {
      const reported = await healthOf(id);
      expect(reported).toMatchObject({
        ...{ destinationId: id, name: "Summed", state: "healthy", reason: null, processes: 2 },
        ...{ attempts: 100, success: 0.98, successOfHour: 0.98, inFlight: 7, deadLetters: 0 },
        waiting: { total: 7, inProcess: 7, deferred: 0, topics: [] },
        urls: [
          {
            ...{ url: URL_A, inFlight: 7, answer: { status: 500 } },
            failures: [
              { answer: "timeout", count: 5 },
              { answer: "500", count: 1 },
            ],
          },
          { answer: null, failures: [] },
        ],
        ...{ timeouts: 0.05, givesUp: null },
      });
      expect([reported.p50Ms < 1, reported.p99Ms > 100]).toEqual([true, true]);
    });
  });

  it("HJ1: is open with its reason and its next probe while a breaker of one process is not closed", async () => {
    const id = await makeDestination("Open");
    const nowMs = Date.now();
    const open = { breaker: "half_open", openSinceMs: nowMs - 5000, nextProbeMs: nowMs + 20_000 } as const;
    await health.say("one", id, { delivered: 5, deliveredAtMs: nowMs, urls: [urlHealth(URL_A)] });
    const timeout = failure(nowMs - 100, { status: null, error: "timeout" });
    await health.say("two", id, { urls: [urlHealth(URL_A, { ...open, answer: timeout })] });
    await eventually(async () =>
      expect(await healthOf(id)).toMatchObject({
        ...{ state: "open", since: new Date(nowMs - 5000).toISOString() },
        reason: { url: URL_A, status: null, error: "timeout" },
        nextProbe: new Date(nowMs + 20_000).toISOString(),
      }),
    );
    await health.say("two", id, { urls: [urlHealth(URL_A)] });
    await eventually(async () => expect((await healthOf(id)).state).toBe("healthy"));
  });

  it("HJ1: is failing when the newest attempt or too many of five minutes failed, and off when it is off", async () => {
    const id = await makeDestination("Failing");
    const nowMs = Date.now();
    const failed = {
      failedAtMs: nowMs,
      failingSinceMs: nowMs - 3000,
      urls: [urlHealth(URL_A, { answer: failure(nowMs) })],
    };
    await health.say("one", id, { ...failed, delivered: 100, retryable: 1, deliveredAtMs: nowMs - 4000 });
    await eventually(async () =>
      expect(await healthOf(id)).toMatchObject({
        ...{ state: "failing", since: new Date(nowMs - 3000).toISOString(), nextProbe: null },
        reason: { status: 503 },
      }),
    );
    const countedSinceMs = nowMs - 1000;
    const well = { ...failed, countedSinceMs, failingSinceMs: null, deliveredAtMs: nowMs + 1 };
    await health.say("one", id, { ...well, delivered: 200, retryable: 1 });
    await eventually(async () => expect((await healthOf(id)).state).toBe("healthy"));
    await health.say("one", id, { ...well, delivered: 200, retryable: 20 });
    await eventually(async () => expect((await healthOf(id)).state).toBe("failing"));
    await control.call("PATCH", `/v1/destinations/${id}`, { enabled: false });
    expect(await healthOf(id)).toMatchObject({ state: "off", reason: null });
  });

  it("says what waits by retry topic, when the next is tried, and how many are dead", async () => {
    const id = await makeDestination("Waiting");
    const writer = await createLogWriter(topics);
    const dueAtMs = Date.now() + 600_000;
    const waits = (n: number, delayMs: number, inMs: number) =>
      attemptAt(n, {
        ...{ destinationId: id, messageId: `w-${n}`, outcome: "retryable", originOffset: n },
        followUps: [
          { kind: "retry", urls: null, delayMs, dueAtMs: dueAtMs + inMs, deadlineMs: dueAtMs + 1e6 + n, reason: null },
        ],
      });
    await writer.attempts([waits(1, 30_000, 5), waits(2, 10_000, 0), waits(3, 30_000, 9)]);
    await writer.deadLetters([deadLetterAt(8, { destinationId: id, messageId: "dead" })]);
    await eventually(async () =>
      expect(await healthOf(id)).toMatchObject({
        waiting: {
          total: 3,
          deferred: 0,
          topics: [
            { delayMs: 10_000, count: 1 },
            { delayMs: 30_000, count: 2 },
          ],
        },
        ...{ nextRetry: new Date(dueAtMs).toISOString(), deadLetters: 1, state: "healthy", attempts: 0 },
        givesUp: {
          first: new Date(dueAtMs + 1e6 + 1).toISOString(),
          last: new Date(dueAtMs + 1e6 + 3).toISOString(),
        },
      }),
    );
  });

  it("counts no dead letter that was purged", async () => {
    const id = await makeDestination("Purged");
    const writer = await createLogWriter(topics);
    await writer.deadLetters([1, 2, 3].map((n) => deadLetterAt(n, { destinationId: id, messageId: `purged-${n}` })));
    await eventually(async () => expect((await healthOf(id)).deadLetters).toBe(3));
    const asked = { messageIds: ["purged-1", "purged-2"], dryRun: true };
    const { plan } = (await control.call("POST", "/v1/dead-letters/purge", asked)).body;
    await control.call("POST", "/v1/dead-letters/purge", { plan });
    await eventually(async () => expect((await healthOf(id)).deadLetters).toBe(1));
    await writer.deadLetters([deadLetterAt(4, { destinationId: id, messageId: "purged-not" })]);
    await eventually(async () => expect((await healthOf(id)).deadLetters).toBe(2));
  });

  it("of none that is there is not found", async () => {
    for (const path of ["health/destinations/dst_none", "destinations/dst_none/series?metric=outcomes"]) {
      expect((await control.call("GET", `/v1/${path}`)).status).toBe(404);
    }
  });
});

describe("the list", () => {
  it("has the worst first over its pages, and those of a state or a name", async () => {
    const nowMs = Date.now();
    const open = (sinceMs: number) =>
      urlHealth(URL_A, { breaker: "open", openSinceMs: sinceMs, nextProbeMs: nowMs, answer: failure(nowMs) });
    const [late, early] = [await makeDestination("Listed late"), await makeDestination("Listed early")];
    const [well, off] = [await makeDestination("Listed well"), await makeDestination("Listed off", false)];
    const failing = await makeDestination("Listed failing");
    await health.say("one", late, { urls: [open(nowMs - 1000)] });
    await health.say("one", early, { urls: [open(nowMs - 9000)] });
    await health.say("one", failing, { failedAtMs: nowMs, failingSinceMs: nowMs });
    const wanted = [early, late, failing, well, off];
    await eventually(async () => {
      const { data } = await read("/v1/health/destinations?name=lISTED");
      expect(data.map(({ destinationId }: { destinationId: string }) => destinationId)).toEqual(wanted);
    });
    const paged: string[] = [];
    let cursor = "";
    do {
      const { data, nextCursor } = await read(`/v1/health/destinations?name=listed&limit=2${cursor}`);
      paged.push(...data.map(({ destinationId }: { destinationId: string }) => destinationId));
      cursor = nextCursor === null ? "" : `&cursor=${nextCursor}`;
    } while (cursor !== "");
    expect(paged).toEqual(wanted);
    const { data } = await read("/v1/health/destinations?name=listed&state=open");
    expect(data.map(({ name }: { name: string }) => name)).toEqual(["Listed early", "Listed late"]);
    const named = (await read(`/v1/health/destinations?ids=dst_none,${failing},${early}`)).data;
    expect(named.map(({ destinationId }: { destinationId: string }) => destinationId)).toEqual([early, failing]);
    const most = Array.from({ length: 200 }, (_, n) => `dst_${n}`).join(",");
    expect((await control.call("GET", `/v1/health/destinations?ids=${most}`)).status).toBe(200);
    const { status, body } = await control.call("GET", `/v1/health/destinations?ids=${most},dst_200`);
    expect([status, body.detail]).toEqual([400, expect.stringContaining("expected at most 200 ids")]);
    expect((await control.call("GET", "/v1/health/destinations?cursor=bm8")).status).toBe(400);
    expect((await control.call("GET", "/v1/health/destinations?state=ill")).status).toBe(400);
  });
});

describe("the status", () => {
  it("says which settings delivery runs with, and that processes differ", async () => {
    await health.sayProcess("one", { startedAtMs: 100 });
    await eventually(async () => {
      const { schedule } = await read("/v1/status");
      expect(schedule).toMatchObject({
        retryDelaysMs: [10_000, 30_000],
        differ: false,
        processes: [{ instance: "one" }],
      });
    });
    await health.sayProcess("two", { startedAtMs: 200, retryDelaysMs: [5000], loggedShare: 0.1 });
    await eventually(async () => {
      const { schedule } = await read("/v1/status");
      expect(schedule).toMatchObject({
        ...{ retryDelaysMs: [5000], attemptLog: { failures: true, deliveredShare: 0.1 }, differ: true },
        processes: [{ instance: "one", retryDelaysMs: [10_000, 30_000] }, { instance: "two" }],
      });
    });
  });

  it("counts destinations by state and names those that need somebody with status, error and URL", async () => {
    const id = await makeDestination("Needs somebody");
    const nowMs = Date.now();
    const open = {
      breaker: "open",
      openSinceMs: 1,
      nextProbeMs: nowMs,
      answer: failure(nowMs, { status: 401 }),
    } as const;
    await health.say("one", id, { urls: [urlHealth(URL_A, open)] });
    await eventually(async () => {
      const status = await read("/v1/status");
      const { data } = await read("/v1/health/destinations?limit=200");
      const count = (state: string) => data.filter((each: { state: string }) => each.state === state).length;
      for (const state of ["open", "failing", "healthy", "off"]) expect(status.destinations[state]).toBe(count(state));
      expect(status.needsSomebody[0]).toMatchObject({ destinationId: id, reason: { status: 401, url: URL_A } });
      expect(status.needsSomebody).toHaveLength(status.destinations.open + status.destinations.failing);
    });
  });

  it("tells what comes in and what is delivered a second, the latencies, the lag and the read model", async () => {
    const id = await makeDestination("Rates");
    const { delivered } = { delivered: 6000 };
    await health.say("one", id, { delivered, latencies: latencies(4, delivered) }, Date.now() - 15 * SECOND_MS);
    await topics.producer.send(
      Array.from({ length: 100 }, () => ({ topic: topics.names.deliveries, key: "k", value: Buffer.from("x") })),
    );
    await eventually(async () => {
      const status = await read("/v1/status");
      expect(status).toMatchObject({
        ...{ ready: true, lag: { router: 0, delivery: 100 }, receivedPerSecond: 0, asOf: expect.any(String) },
        ...{
          readModel: { deliveryLog: "up to date", deadLetters: "up to date", reading: null },
          complete: true,
          replays: [],
        },
        waiting: { total: 0, topics: [] },
      });
      expect(status.deliveredPerSecond).toBeGreaterThanOrEqual(100);
      expect([status.p50Ms > 1, status.p99Ms <= 11]).toEqual([true, true]);
    });
  });
});

/** A destination's minutes in the read model's file; control must have ended. */
function heldMinutes(destinationId: string): readonly unknown[] {
  const database = new DatabaseSync(join(folder, "delivery-log.sqlite"));
  const rows = database
    .prepare("SELECT delivered, deferred FROM health_minutes WHERE destination_id = ? AND delivered > 0")
    .all(destinationId);
  database.close();
  return rows.map((row) => ({ ...row }));
}

describe("what was counted over time", () => {
  it("is told by the minute, written once, and the same after a restart of control", async () => {
    const id = await makeDestination("Series");
    const beganMs = Date.now();
    const deferred = { breaker_open: 7 };
    const counts = { delivered: 40, retryable: 3, permanent: 2, deferred, latencies: latencies(8, 45) };
    await health.say("series", id, { ...counts, countedSinceMs: beganMs, urls: [urlHealth(URL_A, { inFlight: 4 })] });
    const series = async (metric: string, more = "") =>
      await read(
        `/v1/destinations/${id}/series?metric=${metric}&since=${new Date(beganMs - MINUTE_MS).toISOString()}${more}`,
      );
    const sums = ({ data }: { data: readonly Record<string, number>[] }) =>
      ["delivered", "retryable", "permanent", "deferred"].map((field) =>
        data.reduce((sum, point) => sum + (point[field] ?? 0), 0),
      );
    await eventually(async () => expect(sums(await series("outcomes"))).toEqual([40, 3, 2, 7]));
    const reported = await healthOf(id);
    await control.stop();
    control = await start();
    await eventually(async () => {
      expect(sums(await series("outcomes"))).toEqual([40, 3, 2, 7]);
      const { asOf: _, ...again } = await healthOf(id);
      expect({ asOf: reported.asOf, ...again }).toEqual(reported);
    });
    // The minute is over, and it is in the read model.
    aheadMs = 90 * SECOND_MS;
    await control.stop();
    expect(heldMinutes(id)).toEqual([{ delivered: 40, deferred: 7 }]);
    control = await start();
    for (const more of ["", "&step=5m", "&step=15m", "&step=1h"]) {
      await eventually(async () => expect(sums(await series("outcomes", more))).toEqual([40, 3, 2, 7]));
    }
    // The requested range may reach into the hour before.
    const { data: hours } = await series("latency", "&step=1h");
    const [latency, ...others] = hours.filter(({ p50Ms }: { p50Ms: number | null }) => p50Ms !== null);
    expect([latency.p50Ms > 60, latency.p99Ms < 111, others]).toEqual([true, true, []]);
    aheadMs = 0;
  });

  it("is refused where the steps are too many or too fine", async () => {
    const id = await makeDestination("Refused");
    const ask = async (query: string) => (await control.call("GET", `/v1/destinations/${id}/series?${query}`)).status;
    const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * MINUTE_MS).toISOString();
    expect(await ask("metric=outcomes")).toBe(200);
    expect(await ask("metric=nothing")).toBe(400);
    expect(await ask(`metric=outcomes&since=${daysAgo(3)}`)).toBe(200);
    expect(await ask(`metric=outcomes&since=${daysAgo(3)}&step=1m`)).toBe(400);
    expect(await ask(`metric=outcomes&since=${daysAgo(300)}`)).toBe(400);
  });
});

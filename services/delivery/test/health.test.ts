/** Delivery's reports on its destinations, over the real broker and real sockets. */
import type { DestinationHealth, HealthRecord, ProcessHealth } from "@posthaste/core/health/health-record";
import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import { drafts } from "./installation.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const SCHEDULE = { delaysMs: [1000], windowMs: 60_000 };

useInstallation(SCHEDULE.delaysMs);

/** The newest record of each key; null for one that was removed. */
async function followHealth(): Promise<ReadonlyMap<string, HealthRecord | null>> {
  const held = new Map<string, HealthRecord | null>();
  await installation.followHealth((key, record) => held.set(key, record));
  return held;
}

const connect = (id: string, change = {}) =>
  installation.configure(id, { urls: [{ url: `${receiver.url}/${id}`, headers: {} }], ...change });

it("says how each destination's attempts end, since when it fails and why, and removes it at a stop", async () => {
  const held = await followHealth();
  receiver.script("/bad", { status: 503 });
  const [good, bad] = [await connect("good"), await connect("bad")];
  const startedMs = Date.now();
  await installation.send([...drafts("good", 20, good), ...drafts("bad", 30, bad)]);
  const delivery = await installation.startDelivery({ schedule: SCHEDULE, instance: "i1" });
  const of = (id: string): DestinationHealth | null => held.get(`${id}:i1`)?.destination ?? null;
  await eventually(() => {
    expect(of("good")).toMatchObject({ delivered: 20, retryable: 0, failingSinceMs: null });
    expect(of("bad")).toMatchObject({
      ...{ delivered: 0, deliveredAtMs: null },
      urls: [{ url: `${receiver.url}/bad`, breaker: "open", answer: { outcome: "retryable", status: 503 } }],
      failures: [{ url: `${receiver.url}/bad`, answer: "503", count: of("bad")?.retryable }],
    });
  });
  const [url] = of("bad")?.urls ?? [];
  expect(of("bad")?.failingSinceMs).toBeGreaterThanOrEqual(startedMs);
  // Told by another clock, of which a millisecond may be cut off.
  expect(url?.openSinceMs).toBeGreaterThanOrEqual((of("bad")?.failingSinceMs ?? Number.NaN) - 1);
  expect(url?.nextProbeMs).toBeGreaterThan(url?.openSinceMs ?? Number.NaN);
  expect(of("good")?.latencies.reduce((sum, count) => sum + count)).toBe(20);
  const process: Partial<ProcessHealth> = { retryDelaysMs: [1000], retryWindowMs: 60_000, loggedShare: 1 };
  // In another partition than the destinations.
  await eventually(() => expect(held.get("process:i1")).toMatchObject({ instance: "i1", process }));

  receiver.script("/bad", { status: 200 });
  await eventually(() => {
    const health = of("bad");
    expect(health).toMatchObject({ failingSinceMs: null, urls: [{ breaker: "closed", openSinceMs: null }] });
    expect([health?.recoveredAtMs, Object.keys(health?.deferred ?? {})]).toEqual([
      expect.any(Number),
      expect.arrayContaining(["breaker_open"]),
    ]);
  });
  await delivery.stop();
  await eventually(() => expect([...new Set(held.values())]).toEqual([null]));
  expect([...held.keys()].toSorted()).toEqual(["bad:i1", "good:i1", "process:i1"]);
});

it("says that the requests of a URL that hangs time out, and how long they took", async () => {
  const held = await followHealth();
  receiver.script("/hangs", { fault: "hang" });
  await installation.send(drafts("hangs", 5, await connect("hangs")));
  await installation.startDelivery({ schedule: SCHEDULE, instance: "i1", senderLimits: { headersTimeoutMs: 1500 } });
  await eventually(() =>
    expect(held.get("hangs:i1")?.destination).toMatchObject({
      urls: [{ answer: { outcome: "retryable", status: null, error: "timeout" } }],
    }),
  );
  const { retryable = 0, latencies = [] } = held.get("hangs:i1")?.destination ?? {};
  expect([retryable > 0, latencies.slice(0, 12).every((count) => count === 0)]).toEqual([true, true]);
});

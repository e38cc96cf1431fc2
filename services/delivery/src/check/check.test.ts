/** Rules: V2 and V3 of destination-check.ts. */
import type { Destination } from "@posthaste/core/config/destination";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import { describe, expect, it, vi } from "vitest";
import { DESTINATION, deliveryOf, observed, observePipeline } from "../../test/observed-pipeline.ts";
import type { IncomingDelivery } from "../intake/incoming-delivery.ts";

observePipeline();

describe("V1: a delivery that was routed by what the table has not read yet", () => {
  const early = (): Task<IncomingDelivery> => {
    const task = observed.retry(0, "deliveries/0/7/0", {});
    const delivery = deliveryOf(task);
    return { ...task, item: { ...task.item, isRetry: false, delivery: { ...delivery, configOffset: 7 } } };
  };

  it("is not checked before the table has read that: a new destination is then no removed one", async () => {
    observed.destination = undefined;
    observed.run(early());
    await vi.advanceTimersByTimeAsync(0);
    expect([observed.attempted, observed.published]).toEqual([[], []]);
    observed.destination = DESTINATION;
    observed.tableReached.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect([observed.attempted, observed.published]).toEqual([[null], []]);
  });

  it("stays in its window when the process ends before", async () => {
    observed.run(early());
    observed.pipeline.close();
    observed.tableReached.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect([observed.attempted, observed.published]).toEqual([[], []]);
  });
});

describe("a delivery that its destination does not let go on", () => {
  it("V2: for want of a secret's key is held, logged once a destination, and its window does not end", async () => {
    observed.destination = { ...DESTINATION, missingKeyIds: ["k9"] };
    const over = { attempts: 1, windowStartMs: 0, deadlineMs: 1 };
    observed.run(observed.retry(0, "deliveries/0/7/0", over));
    observed.run(observed.retry(1, "deliveries/0/8/0", over));
    expect(observed.attempted).toEqual([]);
    const held = { kind: "retry", progress: { deadlineMs: observed.nowMs + 20_000 } };
    expect(observed.published).toMatchObject([held, held]);
    expect(observed.errors).toEqual([{ event: "secret_key_unknown", destinationId: "dst", missingKeyIds: ["k9"] }]);
    const counted = (await observed.metrics.deferred.get()).values.find(({ labels }) => labels.cause === "unknown_key");
    expect([counted?.value, observed.pipeline.retryBacklog.sizeOf("dst")]).toEqual([2, 1]);
  });

  it("for want of a secret's key counts as a first attempt that is late by the whole window, once", async () => {
    observed.destination = { ...DESTINATION, missingKeyIds: ["k9"] };
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.run(observed.retry(1, "deliveries/0/8/0", { deferrals: 1 }));
    const [sum, count] = (await observed.metrics.firstAttemptDelay.get()).values.slice(-2);
    expect([sum?.value, count?.value]).toEqual([60, 1]);
  });

  it("a destination without URLs is as one that is switched off", () => {
    observed.destination = { ...DESTINATION, urls: [] };
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    expect(observed.published).toMatchObject([{ kind: "dead_letter", reason: "destination_disabled" }]);
  });

  it.each([
    ["each", "url_removed"],
    ["any", "not_attempted"],
  ] as const)("by %s: becomes a dead letter when the destination has none of its URLs any more", (rule, error) => {
    observed.destination = { ...DESTINATION, settle: rule };
    observed.run(observed.retry(0, "deliveries/0/7/0", { urls: ["https://was.example/"] }));
    expect(observed.attempted).toEqual([]);
    const lastAttempt = [{ url: "https://was.example/", status: null, error, durationMs: 0 }];
    expect(observed.published).toMatchObject([{ kind: "dead_letter", reason: "destination_removed", lastAttempt }]);
  });

  it.each([
    ["each", [{ kind: "dead_letter", reason: "destination_removed" }]],
    ["any", []],
  ] as const)("by %s: one of whose URLs is no more owes that one by itself, or nothing more", (rule, follows) => {
    observed.destination = { ...DESTINATION, settle: rule };
    observed.run(observed.retry(0, "deliveries/0/7/0", { urls: ["https://a.example/", "https://was.example/"] }));
    observed.listener.onSettled(observed.answered(200));
    expect(observed.published).toMatchObject(follows);
    expect(observed.attempted).toEqual([["https://a.example/"]]);
  });

  it.each<[string, Destination | undefined, string]>([
    ["whose observed.destination was removed", undefined, "destination_removed"],
    ["whose observed.destination was switched off", { ...DESTINATION, enabled: false }, "destination_disabled"],
    ["whose window is over", { ...DESTINATION, settle: "each" }, "window_expired"],
  ])("%s names in its dead letter the URLs that it owes, all of which are none", (_, now, reason) => {
    observed.destination = now;
    const progress = { attempts: 1, windowStartMs: 0, deadlineMs: 1 };
    observed.run(observed.retry(0, "deliveries/0/7/0", { ...progress, urls: ["https://b.example/"] }));
    observed.run(observed.retry(1, "deliveries/0/8/0", progress));
    const lastAttempt = [{ url: "https://b.example/", status: null, error: "not_attempted", durationMs: 0 }];
    expect(observed.published).toMatchObject([
      { reason, lastAttempt },
      { reason, lastAttempt: [] },
    ]);
  });
});

describe("a delivery that waited", () => {
  it("V3: goes by what the destination is when it is admitted, not when it was taken in", () => {
    observed.destination = { ...DESTINATION, rateLimitPerSecond: 1 };
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.run(observed.retry(1, "deliveries/0/8/0", {}));
    expect(observed.attempted).toHaveLength(1);
    observed.destination = { ...DESTINATION, enabled: false };
    observed.nowMs += 5000;
    vi.advanceTimersByTime(1000);
    expect(observed.attempted).toHaveLength(1);
    expect(observed.published).toMatchObject([{ kind: "dead_letter", reason: "destination_disabled" }]);
  });

  it("V3: is checked again when its destination was changed while it waited", () => {
    const task = observed.retry(0, "deliveries/0/7/0", {});
    const delivery = deliveryOf(task);
    const { progress } = task.item;
    const waited = { task, delivery, progress, isRetry: true, owed: null, destination: DESTINATION, requests: 2 };
    observed.destination = { ...DESTINATION, revision: 2, urls: DESTINATION.urls.slice(0, 1) };
    observed.pipeline.admission.admit(waited);
    expect(observed.attempted).toEqual([null]);
    observed.destination = undefined;
    observed.pipeline.admission.admit(waited);
    expect(observed.published).toMatchObject([{ kind: "dead_letter", reason: "destination_removed" }]);
  });
});

/** Rules: UC2 of url-choice.ts, F3 of outcome-publisher.ts. */
import { canaryIdsOf } from "@posthaste/contracts/canary-ids";
import type { DeliveryProgress } from "@posthaste/core/delivery/delivery";
import { settle } from "@posthaste/core/delivery/outcome";
import { shortName } from "@posthaste/core/routing/short-name";
import type { AttemptReport } from "@posthaste/webhook/report";
import { describe, expect, it, vi } from "vitest";
import { DESTINATION, deliveryOf, observed, observePipeline } from "../../test/observed-pipeline.ts";

observePipeline();

describe("an attempt", () => {
  it("C2: that was delivered finishes its record and publishes nothing", () => {
    observed.run(observed.retry(4, "deliveries/0/7/0", {}));
    expect(observed.finished).toEqual([]);
    observed.listener.onSettled(observed.answered(503, 200));
    expect([observed.finished, observed.published]).toEqual([[4], []]);
  });

  it("C2: that failed leaves its record to what is published, and counts in the retry backlog", () => {
    observed.run(observed.retry(4, "deliveries/0/7/0", {}));
    observed.listener.onSettled(observed.answered(503, 503));
    expect([observed.finished, observed.published]).toMatchObject([[], [{ kind: "retry", progress: { attempts: 1 } }]]);
    expect(observed.pipeline.retryBacklog.sizeOf("dst")).toBe(1);
  });

  it("counts once by its settled outcome, and its requests among those of its destination", async () => {
    observed.run(observed.retry(4, "deliveries/0/7/0", {}));
    observed.listener.onSettled(observed.answered(503, 503));
    observed.listener.onFinished(observed.answered(503, 503));
    expect(observed.metrics.deliveries).toEqual({ delivered: 0, retryable: 1, permanent: 0 });
    const page = await observed.registry.metrics();
    expect(page).toContain('posthaste_destination_deliveries_total{destination="dst",outcome="retryable"} 1');
    expect(page).toContain('posthaste_destination_request_seconds_count{destination="dst"} 2');
    expect(page).toContain("posthaste_request_seconds_count 2");
  });

  it("is logged when all its requests have ended, unless the log skips it or nothing was sent", () => {
    observed.run(observed.retry(4, "deliveries/0/7/0", { attempts: 2 }));
    observed.listener.onSettled(observed.answered(503, 503));
    expect(observed.logged).toEqual([]);
    observed.listener.onFinished(observed.answered(503, 503));
    expect(observed.logged).toMatchObject([{ messageId: "m", destinationId: "dst", attempt: 3, outcome: "retryable" }]);
    observed.run(observed.retry(5, "deliveries/0/8/0", {}));
    observed.listener.onSettled(observed.answered(200, 200));
    observed.listener.onFinished(observed.answered(200, 200));
    observed.run(observed.retry(6, "deliveries/0/9/0", {}));
    observed.listener.onFinished({ ...observed.answered(503), urls: [] });
    expect(observed.logged).toHaveLength(1);
  });

  it("is logged with what is known of its delivery: its event, where its record stands, what followed", () => {
    const task = observed.retry(4, "deliveries/0/7/0", { attempts: 1, deferrals: 2, deadlineMs: 1_050_000 });
    const delivery = {
      ...deliveryOf(task),
      ...{ sourceId: "src", type: "track" as const, event: "Order Completed", receivedAtMs: 980_000, configOffset: 0 },
      ...{ originIncarnation: 3, originPartition: 2, originOffset: 17, body: Buffer.from('"é"') },
    };
    observed.run({ ...task, item: { ...task.item, delivery } });
    observed.listener.onSettled(observed.answered(503, 503));
    observed.nowMs += 500;
    observed.listener.onFinished(observed.answered(503, 503));
    expect(observed.logged).toEqual([
      {
        messageId: "m",
        sourceId: "src",
        destinationId: "dst",
        type: "track",
        receivedAtMs: 980_000,
        userKey: "user-1",
        event: "Order Completed",
        originPartition: 2,
        originOffset: 17,
        configOffset: 0,
        recordDelayMs: 10_000,
        recordPartition: 0,
        recordOffset: 4,
        recordTimestampMs: 990_000,
        deferrals: 2,
        replayId: null,
        attempt: 2,
        startedAtMs: 1_000_500,
        outcome: "retryable",
        urls: expect.any(Array),
        followUps: [
          { kind: "dead_letter", urls: null, delayMs: null, dueAtMs: null, deadlineMs: null, reason: "window_expired" },
        ],
        bodyBytes: 4,
      },
    ]);
  });

  it("is logged without the origin that a replayed delivery has no more, and with its replay", () => {
    const replay = { id: "rpl_1", count: 1, from: null };
    const task = observed.retry(4, "deliveries/0/7/0", { replay });
    const origin = { originIncarnation: -1, originPartition: -1, originOffset: -1 };
    observed.run({ ...task, item: { ...task.item, delivery: { ...deliveryOf(task), ...origin } } });
    observed.listener.onSettled(observed.answered(200, 200));
    observed.listener.onFinished(observed.answered(200, 200));
    expect(observed.logged).toMatchObject([
      { originPartition: null, originOffset: null, replayId: "rpl_1", followUps: [] },
    ]);
  });

  it("F3: says of nothing that follows where its partition was given up meanwhile", () => {
    const task = observed.retry(4, "deliveries/0/7/0", {});
    const window = { ...task.window, isRevoked: false };
    observed.run({ ...task, window } as unknown as typeof task);
    window.isRevoked = true;
    observed.listener.onSettled(observed.answered(503, 503));
    observed.listener.onFinished(observed.answered(503, 503));
    expect(observed.logged).toMatchObject([{ outcome: "retryable", followUps: [] }]);
  });

  it("names a long user shortened", () => {
    const task = observed.retry(4, "deliveries/0/7/0", {});
    const key = Buffer.from(`dst:${"u".repeat(300)}`);
    observed.run({ ...task, record: { ...task.record, key } });
    observed.listener.onSettled(observed.answered(503, 503));
    observed.listener.onFinished(observed.answered(503, 503));
    expect(observed.logged).toMatchObject([{ userKey: shortName("u".repeat(300)) }]);
  });

  it("names the URLs that a dead letter is of, under `settle: each`", () => {
    observed.destination = { ...DESTINATION, settle: "each" };
    observed.run(observed.retry(4, "deliveries/0/7/0", { attempts: 1 }));
    observed.listener.onSettled(observed.answered(200, 503));
    observed.listener.onFinished(observed.answered(200, 503));
    expect(observed.logged).toMatchObject([{ followUps: [{ kind: "dead_letter", urls: ["https://b.example/"] }] }]);
  });

  it("says of each part of what follows when it comes back, under `settle: each`", () => {
    observed.destination = { ...DESTINATION, settle: "each" };
    observed.run(observed.retry(4, "deliveries/0/7/0", {}));
    observed.listener.onSettled(observed.answered(200, 503));
    observed.listener.onFinished(observed.answered(200, 503));
    expect(observed.logged).toMatchObject([
      {
        followUps: [
          { kind: "retry", urls: ["https://b.example/"], delayMs: 10_000, dueAtMs: 1_010_000, deadlineMs: 1_060_000 },
        ],
      },
    ]);
  });

  it.each([{ attempts: 1 }, { deferrals: 1 }, { replay: { id: "rpl_1", count: 1, from: null } }])(
    "OU3: that delivered is logged whatever the share, as the end of one with %j",
    (progress) => {
      observed.run(observed.retry(4, "deliveries/0/7/0", progress));
      observed.listener.onSettled(observed.answered(200, 200));
      observed.listener.onFinished(observed.answered(200, 200));
      expect(observed.logged).toMatchObject([{ outcome: "delivered" }]);
    },
  );

  it("OU3: that delivered is logged whatever the share where something follows all the same", () => {
    observed.destination = { ...DESTINATION, settle: "each" };
    observed.run(observed.retry(4, "deliveries/0/7/0", { urls: ["https://a.example/", "https://gone.example/"] }));
    observed.listener.onSettled(observed.answered(200));
    observed.listener.onFinished(observed.answered(200));
    expect(observed.logged).toMatchObject([{ outcome: "delivered", followUps: [{ reason: "destination_removed" }] }]);
  });

  it("is logged whatever the log skips, where it told of a deletion", () => {
    const task = observed.retry(4, "deliveries/0/7/0", {});
    const delivery = { ...deliveryOf(task), type: "delete" as const };
    observed.run({ ...task, item: { ...task.item, delivery } });
    observed.listener.onFinished(observed.answered(200, 200));
    expect(observed.logged).toMatchObject([{ type: "delete", outcome: "delivered" }]);
  });

  it("counts no time where a delivery got its every 2xx from retries for some of its URLs, rather than two", () => {
    observed.destination = { ...DESTINATION, settle: "each" };
    const seen = vi.spyOn(observed.metrics.endToEnd, "record");
    for (const [offset, url] of ["https://a.example/", "https://b.example/"].entries()) {
      observed.run(observed.retry(4 + offset, `deliveries/0/7/${offset}`, { attempts: 1, urls: [url] }));
      observed.listener.onSettled(observed.answered(200));
    }
    expect(observed.finished).toEqual([4, 5]);
    expect(seen).not.toHaveBeenCalled();
  });

  it("counts the time to the first 2xx once for a delivery, and not for what is left of one", async () => {
    observed.destination = { ...DESTINATION, settle: "each" };
    const seen = vi.spyOn(observed.metrics.endToEnd, "record");
    const task = observed.retry(4, "deliveries/0/7/0", {});
    const delivery = deliveryOf(task);
    observed.run({ ...task, item: { ...task.item, delivery: { ...delivery, receivedAtMs: observed.nowMs - 2000 } } });
    observed.listener.onSettled(observed.answered(200, 503));
    expect(seen.mock.calls).toEqual([[2]]);
    observed.run(observed.retry(5, "deliveries/0/8/0", { urls: ["https://b.example/"] }));
    observed.listener.onSettled(observed.answered(200));
    expect(seen).toHaveBeenCalledTimes(1);
    // A failing attempt takes no time, and the rest of the window may be all of it.
    observed.run(observed.retry(6, "deliveries/0/9/0", {}));
    observed.listener.onSettled(observed.answered(503, 503));
    expect(seen).toHaveBeenCalledTimes(1);
    observed.run(observed.retry(7, "deliveries/0/10/0", { urls: ["https://a.example/", "https://b.example/"] }));
    observed.listener.onSettled(observed.answered(200, 503));
    expect(seen).toHaveBeenCalledTimes(2);
  });
});

describe("OU4: towards the health of its destination", () => {
  const counted = () => observed.pipeline.healthCounts.get("dst");

  it("each settled attempt counts, and each answer", () => {
    observed.run(observed.retry(4, "deliveries/0/7/0", {}));
    observed.listener.onSettled(observed.answered(503, 503));
    expect(counted()).toMatchObject({ delivered: 0, retryable: 1, failingSinceMs: observed.nowMs });
    expect(counted()?.answers.size).toBe(0);
    observed.listener.onFinished(observed.answered(503, 503));
    expect([...(counted()?.answers.keys() ?? [])]).toEqual(["https://a.example/", "https://b.example/"]);
  });

  it("an attempt without a request counts for nothing", () => {
    observed.run(observed.retry(4, "deliveries/0/7/0", {}));
    observed.listener.onSettled({ ...observed.answered(503), urls: [] });
    expect(counted()).toBeUndefined();
  });

  it("each deferral counts by its cause, and so do all of this process", async () => {
    observed.run(observed.retry(4, "deliveries/0/7/0", { notBeforeMs: observed.nowMs + 1000 }));
    expect(counted()?.deferred).toEqual({ retry_after: 1 });
    const { values } = await observed.metrics.deferred.get();
    expect(values.find(({ labels }) => labels.cause === "retry_after")?.value).toBe(1);
  });
});

describe("OU5: a delivery of a canary", () => {
  const { destinationId } = canaryIdsOf("http://control:8090");
  const toCanary = (progress: Partial<DeliveryProgress>, enabled = true) => {
    observed.destination = { ...DESTINATION, id: destinationId, enabled };
    const task = observed.retry(4, "deliveries/0/7/0", progress);
    observed.run({ ...task, item: { ...task.item, delivery: { ...deliveryOf(task), destinationId } } });
  };

  it("is in the metrics of all deliveries, and in no log, no health and no series", async () => {
    toCanary({});
    observed.listener.onSettled(observed.answered(503, 503));
    observed.listener.onFinished(observed.answered(503, 503));
    toCanary({ notBeforeMs: observed.nowMs + 1000 });
    expect(observed.published.map(({ kind }) => kind)).toEqual(["retry", "retry"]);
    expect([observed.logged, observed.loggedDeferrals]).toEqual([[], []]);
    expect(observed.pipeline.healthCounts.get(destinationId)).toBeUndefined();
    const page = await observed.registry.metrics();
    expect(page).toContain('posthaste_deliveries_total{outcome="retryable"} 1');
    expect(page).not.toContain(destinationId);
  });

  it("becomes no dead letter, but ends where it is", () => {
    toCanary({}, false);
    expect([observed.published, observed.finished]).toEqual([[], [4]]);
  });
});

describe("an attempt of several URLs", () => {
  const [a, b] = ["https://a.example/", "https://b.example/"];
  const asked = { status: 429, error: null, notBeforeMs: 1_030_000 };

  it("W5, UC2: under `settle: each` defers apart the URL that asked for it, with what became of the others", () => {
    observed.destination = { ...DESTINATION, settle: "each" };
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.listener.onOutcome(1, "retryable", asked);
    observed.listener.onEnd(1, { outcome: "retryable", isOverBudget: false, answerMs: 0 });
    observed.published = [];
    observed.run(observed.retry(1, "deliveries/0/8/0", { attempts: 2, windowStartMs: 990_000, deadlineMs: 1_050_000 }));
    expect(observed.attempted).toEqual([null, [a]]);
    observed.listener.onSettled(observed.answered(200));
    expect(observed.published).toMatchObject([
      { kind: "retry", progress: { urls: [b], attempts: 2, deferrals: 1, notBeforeMs: 1_030_000 } },
    ]);
    expect(observed.finished).toEqual([]);
    expect(observed.pipeline.retryBacklog.sizeOf("dst")).toBe(1);
  });

  it("UC2: under `settle: each` deferred in parts, has a dead letter for the URL that is no more", () => {
    observed.destination = { ...DESTINATION, settle: "each" };
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.listener.onOutcome(0, "retryable", { ...asked, notBeforeMs: 1_020_000 });
    observed.listener.onOutcome(1, "retryable", asked);
    const gone = "https://gone.example/";
    observed.run(observed.retry(1, "deliveries/0/8/0", { attempts: 2, urls: [a, b, gone] }));
    expect(observed.published).toMatchObject([
      { kind: "retry", progress: { urls: [a], notBeforeMs: 1_020_000 } },
      { kind: "retry", progress: { urls: [b], notBeforeMs: 1_030_000 } },
      { kind: "dead_letter", reason: "destination_removed", lastAttempt: [{ url: gone }] },
    ]);
    // OU2: each part counts by its cause, and in the retry backlog if it is to come back.
    expect(observed.pipeline.healthCounts.get("dst")?.deferred).toEqual({ retry_after: 2 });
    expect(observed.pipeline.retryBacklog.sizeOf("dst")).toBe(2);
  });

  it("I5, W5: under `settle: any` waits for the first URL that may be called again, also of those skipped", () => {
    const report = (notBeforeMs: number): AttemptReport => {
      const url = {
        url: a,
        outcome: "retryable" as const,
        status: 429,
        error: null,
        durationMs: 1,
        notBeforeMs,
        answer: null,
      };
      return { settlement: settle("any", [url]), startedAtMs: observed.nowMs, urls: [url] };
    };
    observed.run(observed.retry(0, "deliveries/0/7/0", { urlsNotBeforeMs: { [b]: 1_030_000 } }));
    expect(observed.attempted).toEqual([[a]]);
    observed.listener.onSettled(report(1_040_000));
    expect(observed.published).toMatchObject([{ kind: "retry", progress: { attempts: 1, notBeforeMs: 1_030_000 } }]);
  });
});

describe("a deferral", () => {
  const retryAfter = { status: 429, error: null, notBeforeMs: 1_030_000 };

  it("OU3: is logged with its cause and its due time when it is the delivery's first", () => {
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    for (const index of [0, 1]) observed.listener.onOutcome(index, "retryable", retryAfter);
    observed.run(observed.retry(1, "deliveries/0/8/0", { attempts: 1, windowStartMs: 990_000, deadlineMs: 1_050_000 }));
    observed.run(observed.retry(2, "deliveries/0/9/0", { deferrals: 1 }));
    expect(observed.published).toHaveLength(2);
    expect(observed.loggedDeferrals).toMatchObject([
      {
        ...{ messageId: "m", destinationId: "dst", userKey: "user-1", recordOffset: 1, recordDelayMs: 10_000 },
        ...{ attempts: 1, deferrals: 0, deferredAtMs: observed.nowMs, cause: "retry_after", urls: null },
        ...{ delayMs: 10_000, dueAtMs: observed.nowMs + 10_000, deadlineMs: 1_050_000 },
      },
    ]);
  });

  it("OU3: is not logged where the log skips such", () => {
    observed.attemptLog.skipsDeferrals = true;
    observed.run(observed.retry(4, "deliveries/0/7/0", { notBeforeMs: observed.nowMs + 1000 }));
    expect([observed.published.length, observed.loggedDeferrals]).toEqual([1, []]);
  });

  it("OU3: of some URLs names them", () => {
    observed.destination = { ...DESTINATION, settle: "each" };
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.listener.onOutcome(1, "retryable", retryAfter);
    observed.listener.onEnd(1, { outcome: "retryable", isOverBudget: false, answerMs: 0 });
    observed.run(observed.retry(1, "deliveries/0/8/0", {}));
    observed.listener.onSettled(observed.answered(200));
    expect(observed.loggedDeferrals).toMatchObject([
      { recordOffset: 1, cause: "retry_after", urls: ["https://b.example/"] },
    ]);
  });

  it("F3: is not logged where its partition was given up", () => {
    observed.destination = { ...DESTINATION, settle: "each" };
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.listener.onOutcome(1, "retryable", retryAfter);
    observed.listener.onEnd(1, { outcome: "retryable", isOverBudget: false, answerMs: 0 });
    const task = observed.retry(1, "deliveries/0/8/0", {});
    const window = { ...task.window, isRevoked: false };
    observed.run({ ...task, window } as unknown as typeof task);
    window.isRevoked = true;
    observed.listener.onSettled(observed.answered(200));
    expect(observed.loggedDeferrals).toEqual([]);
  });
});

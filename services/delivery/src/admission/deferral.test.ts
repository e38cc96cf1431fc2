/** Rules: J5 of admission.ts, V5 of check.ts. */
import { settle } from "@posthaste/core/delivery/outcome";
import { describe, expect, it, vi } from "vitest";
import { DESTINATION, observed, observePipeline } from "../../test/observed-pipeline.ts";

observePipeline();

describe("a delivery that is not sent now", () => {
  it("I1: is deferred and never attempted when it was turned away, for it did not take its turn", () => {
    const task = observed.retry(0, "deliveries/0/7/0", {});
    observed.run({ ...task, item: { ...task.item, deferralOnArrival: "window_full" } });
    expect(observed.attempted).toEqual([]);
    expect(observed.published).toMatchObject([{ kind: "retry", delayMs: 10_000, progress: { deferrals: 1 } }]);
  });

  it("C4: is neither deferred nor attempted when its partition was given up", () => {
    observed.destination = { ...DESTINATION, rateLimitPerSecond: 1 };
    const asked = { status: 429, error: null, notBeforeMs: observed.nowMs + 60_000 };
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    const lost = observed.retry(1, "deliveries/0/8/0", {});
    observed.run(lost);
    Object.assign(lost.window, { isRevoked: true });
    for (const index of [0, 1]) observed.listener.onOutcome(index, "retryable", asked);
    expect([observed.attempted, observed.published, observed.pipeline.admission.waiting]).toEqual([[null], [], 0]);
    expect(observed.pipeline.retryBacklog.sizeOf("dst")).toBe(0);
    observed.run(observed.retry(2, "deliveries/0/9/0", {}));
    expect(observed.published).toMatchObject([{ kind: "retry" }]);
  });

  it("W5: what a receiver asked to wait for is sent from that moment on, and not before", () => {
    observed.run(observed.retry(0, "deliveries/0/7/0", { notBeforeMs: observed.nowMs + 1 }));
    expect([observed.attempted.length, observed.published.length]).toEqual([0, 1]);
    observed.run(observed.retry(1, "deliveries/0/8/0", { notBeforeMs: observed.nowMs }));
    expect([observed.attempted.length, observed.published.length]).toEqual([1, 1]);
  });

  it("I2: counts once in the retry backlog, however often it is deferred until its not-before", () => {
    observed.pipeline.retryBacklog.add("dst");
    for (let offset = 0; offset < 5; offset++) {
      observed.run(observed.retry(offset, `retry-10s/0/${offset}/0`, { notBeforeMs: 1_050_000 }));
    }
    expect(observed.pipeline.retryBacklog.sizeOf("dst")).toBe(1);
  });

  it("V5: is dead and not attempted when its window is over, wherever it waited", () => {
    const progress = { attempts: 3, windowStartMs: 940_000, deadlineMs: 1_000_000 };
    observed.run(observed.retry(0, "deliveries/0/7/0", progress));
    expect([observed.attempted, observed.published]).toMatchObject([
      [],
      [{ kind: "dead_letter", reason: "window_expired", progress }],
    ]);
  });

  it("V5: is dead when its window ended while it waited for admission", () => {
    observed.destination = { ...DESTINATION, rateLimitPerSecond: 1 };
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.run(
      observed.retry(1, "deliveries/0/8/0", { attempts: 1, windowStartMs: 0, deadlineMs: observed.nowMs + 500 }),
    );
    expect([observed.attempted.length, observed.published]).toEqual([1, []]);
    observed.nowMs += 5000;
    vi.advanceTimersByTime(1000);
    expect(observed.attempted).toHaveLength(1);
    expect(observed.published).toMatchObject([
      { kind: "dead_letter", reason: "window_expired", progress: { attempts: 1 } },
    ]);
  });

  it("I3: has its last attempt after its window too when it was never attempted", () => {
    observed.run(
      observed.retry(0, "deliveries/0/7/0", { deferrals: 9, windowStartMs: 0, deadlineMs: observed.nowMs - 5000 }),
    );
    expect([observed.attempted, observed.published]).toEqual([[null], []]);
  });

  it("W5: is tried once more before its window ends when asked for longer, though its URLs are shut", () => {
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    const asked = { outcome: "retryable" as const, notBeforeMs: observed.nowMs + 3_600_000 };
    const url = { url: "https://a.example/", status: 503, error: null, durationMs: 1, answer: null, ...asked };
    const report = { settlement: settle("any", [url]), startedAtMs: observed.nowMs, urls: [url] };
    observed.listener.onSettled(report);
    for (let offset = 1; observed.attempted.length === 1; offset++) {
      const plan = observed.published.at(-1);
      if (plan?.kind !== "retry") throw new Error(`it is ${plan?.kind} after ${offset} records`);
      observed.nowMs += plan.delayMs + 20;
      observed.run(observed.retry(offset, `retry-10s/0/${offset}/0`, plan.progress));
    }
    expect(observed.nowMs).toBeGreaterThanOrEqual(1_040_000);
    expect(observed.nowMs).toBeLessThan(1_060_000);
    observed.listener.onSettled(report);
    expect(observed.published.at(-1)).toMatchObject({
      kind: "dead_letter",
      reason: "window_expired",
      progress: { attempts: 2 },
    });
  });

  it("J5, W5: is still owed its last attempt when that waited for the rate and the reserve ran out", () => {
    observed.destination = { ...DESTINATION, rateLimitPerSecond: 100 };
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    for (const index of [0, 1]) {
      observed.listener.onOutcome(index, "retryable", {
        status: 503,
        error: null,
        notBeforeMs: observed.nowMs + 3_600_000,
      });
    }
    const progress = { attempts: 1, windowStartMs: observed.nowMs - 55_000, deadlineMs: observed.nowMs + 5000 };
    for (let offset = 1; offset <= 40; offset++)
      observed.run(observed.retry(offset, `retry-10s/0/${offset}/0`, progress));
    for (let ticks = 0; ticks < 100; ticks++) {
      observed.nowMs += 20;
      vi.advanceTimersByTime(20);
    }
    expect([observed.attempted.length, new Set(observed.published.map(({ kind }) => kind))]).toEqual([
      1 + 16,
      new Set(["retry"]),
    ]);
    expect(observed.published).toHaveLength(40 - 16);
  });

  it("gives its rate back when it is admitted and not sent", () => {
    observed.destination = { ...DESTINATION, rateLimitPerSecond: 1 };
    for (const offset of [0, 1]) observed.run(observed.retry(offset, `deliveries/0/${offset}/0`, {}));
    observed.destination = { ...DESTINATION, rateLimitPerSecond: 1, revision: 2 };
    observed.nowMs += 2000;
    vi.advanceTimersByTime(1000);
    expect(observed.attempted).toHaveLength(2);
  });
});

describe("a URL whose receiver asked not to be called", () => {
  const [a, b] = ["https://a.example/", "https://b.example/"];
  const asked = { status: 429, error: null, notBeforeMs: 1_030_000 };

  it("is not shut for longer than a window, whatever the receiver asks for", () => {
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    for (const index of [0, 1])
      observed.listener.onOutcome(index, "retryable", { ...asked, notBeforeMs: 9_000_000_000 });
    observed.nowMs += 60_000;
    observed.run(observed.retry(1, "deliveries/0/8/0", {}));
    expect(observed.attempted).toEqual([null, null]);
  });

  it("I5, W5: under `settle: any` leaves out the URL that asked for it, in this process or another", () => {
    observed.run(
      observed.retry(0, "deliveries/0/7/0", {
        urlsNotBeforeMs: { [b]: 1_030_000, "https://gone.example/": 1_030_000 },
      }),
    );
    expect(observed.attempted).toEqual([[a]]);
    observed.listener.onSettled(observed.answered(503));
    expect(observed.published).toMatchObject([
      { kind: "retry", progress: { notBeforeMs: null, urlsNotBeforeMs: { [b]: 1_030_000 } } },
    ]);
    observed.listener.onOutcome(0, "retryable", { status: 503, error: null, notBeforeMs: 1_020_000 });
    observed.run(observed.retry(1, "deliveries/0/8/0", {}));
    expect([observed.attempted.length, observed.published.at(-1)]).toMatchObject([
      1,
      { kind: "retry", progress: { deferrals: 1, notBeforeMs: 1_020_000 } },
    ]);
  });
});

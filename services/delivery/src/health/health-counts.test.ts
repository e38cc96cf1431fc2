import { LATENCY_BUCKETS, latencyBucket } from "@posthaste/core/health/latency-counts";
import type { AttemptReport, UrlResult } from "@posthaste/webhook/report";
import { describe, expect, it } from "vitest";
import { DestinationsCounts } from "./health-counts.ts";

const result = (over: Partial<UrlResult> = {}): UrlResult => ({
  ...{ url: "https://a.example/", outcome: "delivered", status: 200, error: null, durationMs: 30 },
  ...{ notBeforeMs: null, answer: null },
  ...over,
});
const report = (startedAtMs: number, ...urls: UrlResult[]) => ({ startedAtMs, urls }) as unknown as AttemptReport;

describe("what a process counts of a destination", () => {
  it("HC3: is when it began to fail, and when it delivered again", () => {
    const counts = new DestinationsCounts();
    counts.settled("a", "delivered", 10);
    for (const nowMs of [20, 30]) counts.settled("a", "retryable", nowMs);
    expect(counts.get("a")).toMatchObject({
      deliveredAtMs: 10,
      failedAtMs: 30,
      failingSinceMs: 20,
      recoveredAtMs: null,
    });
    counts.settled("a", "permanent", 40);
    counts.settled("a", "delivered", 50);
    expect(counts.get("a")).toMatchObject({ deliveredAtMs: 50, failingSinceMs: null, recoveredAtMs: 50 });
    expect(counts.get("a")).toMatchObject({ delivered: 2, retryable: 2, permanent: 1, countedSinceMs: 10 });
  });

  it("is each URL's last answer, and how long every request took", () => {
    const counts = new DestinationsCounts();
    const failed = result({ url: "https://b.example/", outcome: "retryable", status: null, error: "timeout" });
    counts.finished("a", report(1000, result(), { ...failed, durationMs: 5000 }));
    // An attempt that began earlier and ended later.
    counts.finished("a", report(900, result({ outcome: "retryable", status: 503, durationMs: 50 })));
    const held = counts.get("a");
    expect([...(held?.answers ?? [])]).toEqual([
      ["https://a.example/", { atMs: 1030, outcome: "delivered", status: 200, error: null, durationMs: 30 }],
      ["https://b.example/", { atMs: 6000, outcome: "retryable", status: null, error: "timeout", durationMs: 5000 }],
    ]);
    const latencies = new Array(LATENCY_BUCKETS).fill(0);
    for (const ms of [30, 5000, 50]) latencies[latencyBucket(ms)] += 1;
    expect(held?.latencies).toEqual(latencies);
  });

  it("is what failed by URL and by what it came to, and one kind of the rest beyond fifty", () => {
    const counts = new DestinationsCounts();
    const failed = (url: string, status: number | null, error: string | null = null) =>
      counts.finished("a", report(1, result({ url, outcome: "retryable", status, error } as Partial<UrlResult>)));
    counts.finished("a", report(1, result()));
    for (const url of ["x", "y", "x"]) failed(url, 503);
    failed("x", null, "timeout");
    const reported = () => [...(counts.get("a")?.failures.values() ?? [])];
    const three = [
      { url: "x", answer: "503", count: 2 },
      { url: "y", answer: "503", count: 1 },
      { url: "x", answer: "timeout", count: 1 },
    ];
    expect(reported()).toEqual(three);
    for (let status = 200; status < 300; status++) failed("x", status);
    failed("x", 503);
    expect(reported()).toHaveLength(51);
    expect([reported()[0], reported().at(-1)]).toEqual([
      { url: "x", answer: "503", count: 3 },
      { url: "x", answer: "other", count: 53 },
    ]);
  });

  it("is a failure where the rest of a delivered answer went over its budget", () => {
    const counts = new DestinationsCounts();
    counts.finished("a", report(1, result({ error: "answer_over_budget" })));
    const held = counts.get("a");
    expect([...(held?.failures.values() ?? [])]).toMatchObject([{ answer: "answer_over_budget", count: 1 }]);
    expect([...(held?.answers.values() ?? [])]).toMatchObject([{ outcome: "delivered", error: "answer_over_budget" }]);
  });

  it("is its deferrals by cause", () => {
    const counts = new DestinationsCounts();
    for (const cause of ["breaker_open", "breaker_open", "window_full"] as const) counts.deferred("a", cause, 10);
    expect(counts.get("a")?.deferred).toEqual({ breaker_open: 2, window_full: 1 });
  });

  it("is told once of each destination that was touched since it was asked", () => {
    const counts = new DestinationsCounts();
    for (const id of ["a", "b", "a"]) counts.settled(id, "delivered", 10);
    expect([counts.takeTouched(), counts.takeTouched()]).toEqual([["a", "b"], []]);
    counts.settled("b", "delivered", 20);
    expect(counts.takeTouched()).toEqual(["b"]);
  });

  it("HC2: is forgotten when the destination was not used for an hour, and begins anew", () => {
    const counts = new DestinationsCounts();
    counts.settled("a", "delivered", 0);
    counts.settled("b", "delivered", 1000);
    counts.settled("c", "delivered", 0);
    counts.deferred("c", "breaker_open", 1000);
    expect([counts.forgetUnused(3_600_000), counts.get("a")]).toEqual([["a"], undefined]);
    counts.settled("a", "delivered", 3_600_001);
    expect(counts.get("a")).toMatchObject({ delivered: 1, countedSinceMs: 3_600_001 });
  });
});

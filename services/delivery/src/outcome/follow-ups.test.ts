import type { Destination } from "@posthaste/core/config/destination";
import { type Delivery, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { settle } from "@posthaste/core/delivery/outcome";
import type { AttemptReport, UrlResult } from "@posthaste/webhook/report";
import { describe, expect, it } from "vitest";
import { planFollowUps } from "./follow-ups.ts";

const schedule = { delaysMs: [1000, 5000], windowMs: 60_000 };
const delivery = { messageId: "m", destinationId: "d" } as Delivery;

const answered = (path: string, status: number, notBeforeMs: number | null = null): UrlResult => ({
  url: `https://receiver.test/${path}`,
  outcome: status < 300 ? "delivered" : status >= 500 || status === 429 ? "retryable" : "permanent",
  status,
  error: null,
  durationMs: 1,
  notBeforeMs,
  answer: null,
});

function report(rule: "any" | "each", urls: readonly UrlResult[]): AttemptReport {
  return { settlement: settle(rule, urls), startedAtMs: 0, urls };
}

const plan = (
  settled: AttemptReport,
  progress = NO_PROGRESS,
  nowMs = 0,
  skippedTillMs: readonly (number | null)[] = [],
) => {
  const destination = { settle: "each", urls: settled.urls } as unknown as Destination;
  return planFollowUps({ delivery, progress, destination, report: settled, skippedTillMs, schedule, nowMs });
};

describe("follow-ups", () => {
  it("are none when one URL took it", () => {
    expect(plan(report("any", [answered("a", 503), answered("b", 200)]))).toEqual([]);
  });

  it("are one retry of all URLs, or one dead letter with what each answered", () => {
    expect(plan(report("any", [answered("a", 503), answered("b", 404)]))).toMatchObject([
      { kind: "retry", delayMs: 1000, progress: { attempts: 1, urls: null } },
    ]);
    expect(plan(report("any", [answered("a", 410), answered("b", 404)]))).toMatchObject([
      {
        kind: "dead_letter",
        reason: "rejected_by_receiver",
        progress: { attempts: 1, windowStartMs: null },
        lastAttempt: [{ status: 410 }, { status: 404 }],
      },
    ]);
  });

  it("stay with the URLs that a replay names, under `settle: any` too", () => {
    const progress = { ...NO_PROGRESS, urls: ["https://receiver.test/a"] };
    const failed = report("any", [answered("a", 503, 30_000)]);
    for (const skippedTillMs of [[], [null]]) {
      expect(plan(failed, progress, 0, skippedTillMs)).toMatchObject([
        { kind: "retry", progress: { urls: progress.urls, urlsNotBeforeMs: { "https://receiver.test/a": 30_000 } } },
      ]);
    }
    expect(plan(report("any", [answered("a", 200)]), progress)).toEqual([]);
  });

  it("under `settle: each` are one for each fate, with its own URLs", () => {
    const followUps = plan(
      report("each", [answered("a", 503), answered("b", 404), answered("c", 200), answered("d", 503, 90_000)]),
    );
    expect(followUps).toMatchObject([
      { kind: "dead_letter", lastAttempt: [{ url: "https://receiver.test/b" }] },
      { kind: "retry", progress: { urls: ["https://receiver.test/a"], notBeforeMs: null } },
      { kind: "retry", progress: { urls: ["https://receiver.test/d"], notBeforeMs: 59_000 } },
    ]);
  });

  it("under `settle: each` are a dead letter for the URLs that were removed, beside what becomes of the others", () => {
    const owed = ["a", "gone", "went"].map((path) => `https://receiver.test/${path}`);
    const progress = { ...NO_PROGRESS, attempts: 1, urls: owed };
    const gone = {
      kind: "dead_letter",
      reason: "destination_removed",
      progress: { attempts: 1, urls: owed.slice(1) },
      lastAttempt: owed.slice(1).map((url) => ({ url, status: null, error: "url_removed" })),
    };
    expect(plan(report("each", [answered("a", 503)]), progress)).toMatchObject([
      { kind: "retry", progress: { attempts: 2, urls: ["https://receiver.test/a"] } },
      gone,
    ]);
    expect(plan(report("each", [answered("a", 200)]), progress)).toMatchObject([gone]);
  });

  it("under `settle: each` are a dead letter of the URLs that failed alone when the window is over", () => {
    const progress = { ...NO_PROGRESS, attempts: 1, windowStartMs: 0, deadlineMs: 60_000 };
    const settled = report("each", [answered("a", 503), answered("b", 200), answered("c", 404)]);
    expect(plan(settled, progress, 59_500)).toMatchObject([
      { reason: "rejected_by_receiver", lastAttempt: [{ url: "https://receiver.test/c" }] },
      { reason: "window_expired", lastAttempt: [{ url: "https://receiver.test/a" }] },
    ]);
  });

  it("are dead letters when the window is over, with its start", () => {
    const progress = { ...NO_PROGRESS, attempts: 1, windowStartMs: 0, deadlineMs: 60_000 };
    expect(plan(report("any", [answered("a", 503)]), progress, 59_500)).toMatchObject([
      { kind: "dead_letter", reason: "window_expired", progress: { attempts: 2, windowStartMs: 0 } },
    ]);
  });
});

describe("an attempt that left URLs out", () => {
  it("has not failed for good: those may take it", () => {
    expect(plan(report("any", [answered("a", 404)]), NO_PROGRESS, 0, [null])).toMatchObject([
      { kind: "retry", delayMs: 1000, progress: { attempts: 1, urls: null, notBeforeMs: null } },
    ]);
  });

  it("I5: waits for no URL that may be called before another, and for the first where all asked for peace", () => {
    const asked = report("any", [answered("a", 503, 30_000)]);
    expect(plan(asked, NO_PROGRESS, 0, [null])).toMatchObject([{ delayMs: 1000, progress: { notBeforeMs: null } }]);
    expect(plan(asked, NO_PROGRESS, 0, [20_000])).toMatchObject([{ delayMs: 5000, progress: { notBeforeMs: 20_000 } }]);
  });

  it("is delivered when a URL took it", () => {
    expect(plan(report("any", [answered("a", 200)]), NO_PROGRESS, 0, [null])).toEqual([]);
  });
});

describe("what single URLs asked for", () => {
  it("W5: goes with the retry, whoever makes it, and what was asked before and is to come stays", () => {
    const progress = {
      ...NO_PROGRESS,
      urlsNotBeforeMs: { "https://receiver.test/c": 9000, "https://receiver.test/d": 4000 },
    };
    const settled = report("any", [answered("a", 503, 30_000), answered("b", 503)]);
    expect(plan(settled, progress, 5000)).toMatchObject([
      {
        kind: "retry",
        progress: {
          notBeforeMs: null,
          urlsNotBeforeMs: { "https://receiver.test/a": 30_000, "https://receiver.test/c": 9000 },
        },
      },
    ]);
    const [followUp] = plan(report("any", [answered("b", 503)]), progress, 9000);
    expect(followUp?.progress.urlsNotBeforeMs).toBeNull();
  });
});

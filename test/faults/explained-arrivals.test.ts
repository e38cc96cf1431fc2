import { addAttempt } from "@posthaste/core/delivery/attempt-history";
import type { AttemptBatch, AttemptRecord, DeferralRecord } from "@posthaste/core/delivery/attempt-record";
import { NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { expect, it } from "vitest";
import { createArrivals } from "./arrivals.ts";
import { Explanation } from "./explained-arrivals.ts";

const timeout = { url: "", status: null, error: "timeout", durationMs: 5_000, answer: null };

/** A batch of the log: for each message id the outcome of its attempt, or that it was deferred. */
function logOf(entries: readonly (readonly [string, "delivered" | "retryable" | "deferred"])[]): AttemptBatch {
  const attempts: AttemptRecord[] = [];
  const deferrals: DeferralRecord[] = [];
  for (const [messageId, outcome] of entries) {
    if (outcome === "deferred") deferrals.push({ messageId, cause: "breaker_open" } as DeferralRecord);
    else
      attempts.push({ messageId, outcome, urls: outcome === "retryable" ? [timeout] : [] } as unknown as AttemptRecord);
  }
  return { attempts, deferrals };
}

/** A receiver's requests: `user/sequence`, one after the other. */
function arrivalsOf(ids: readonly string[]) {
  const arrivals = createArrivals();
  for (const id of ids) {
    const [userId, sequence] = id.split("/");
    const body = Buffer.from(JSON.stringify({ userId, properties: { sequence: Number(sequence) } }));
    arrivals.record({ headers: { "x-message-id": id }, body } as unknown as Parameters<typeof arrivals.record>[0]);
  }
  return arrivals;
}

function explain(ids: readonly string[], log: AttemptBatch) {
  const explanation = new Explanation(arrivalsOf(ids));
  explanation.add(log);
  return explanation.result();
}

it("explains a repeat by an attempt that failed, once for each, and no other", () => {
  const delivered = logOf([["a/1", "delivered"]]);
  expect(explain(["a/1", "a/1"], delivered)).toMatchObject({ repeated: 1, retried: 0 });
  const failed = logOf([
    ["a/1", "retryable"],
    ["a/1", "delivered"],
  ]);
  expect(explain(["a/1", "a/1"], failed)).toMatchObject({ repeated: 0, retried: 1 });
  expect(explain(["a/1", "a/1", "a/1"], failed)).toMatchObject({ repeated: 1, retried: 1 });
  expect(explain(["a/1", "a/1"], logOf([["b/1", "retryable"]]))).toMatchObject({ repeated: 1, retried: 0 });
});

it("explains a repeat by the history of its retry, where a killed process took its log with it", () => {
  const failed = { startedAtMs: 0, urls: [timeout] };
  const retried = (...ids: readonly string[]) => {
    const explanation = new Explanation(arrivalsOf(["a/1", "a/1", "a/1", "b/2", "b/1"]));
    expect(explanation.isWhole).toBe(false);
    for (const id of ids) explanation.addRetry(id, addAttempt(addAttempt(NO_PROGRESS, failed), failed));
    explanation.addRetry("b/1", { history: null, deferrals: 1 });
    return { ...explanation.result(), isWhole: explanation.isWhole };
  };
  expect(retried("a/1")).toMatchObject({ repeated: 0, disordered: 0, isWhole: true });
  expect(retried()).toMatchObject({ repeated: 2, disordered: 0, isWhole: false });
});

it("does not explain a repeat by a deferral, of which nothing was sent", () => {
  expect(explain(["a/1", "a/1"], logOf([["a/1", "deferred"]]))).toMatchObject({ repeated: 1 });
});

it("explains an event that came late by its own failed attempt or deferral alone", () => {
  const late = ["a/2", "a/1", "a/3"];
  expect(
    explain(
      late,
      logOf([
        ["a/2", "retryable"],
        ["a/3", "deferred"],
      ]),
    ),
  ).toMatchObject({ disordered: 1, retried: 0 });
  expect(explain(late, logOf([["a/1", "retryable"]]))).toMatchObject({ disordered: 0, retried: 1 });
  expect(explain(late, logOf([["a/1", "deferred"]]))).toMatchObject({ disordered: 0, retried: 1 });
  expect(explain(["a/1", "b/2", "a/2", "b/3"], logOf([]))).toMatchObject({ disordered: 0, repeated: 0 });
});

it("says of what came again or late what failed, and how often", () => {
  const log = logOf([
    ["a/1", "retryable"],
    ["a/1", "retryable"],
    ["b/1", "deferred"],
    ["c/1", "retryable"],
  ]);
  expect([...explain(["a/1", "a/1", "b/2", "b/1", "c/1"], log).reasons]).toEqual([
    ["timeout", 2],
    ["deferred: breaker_open", 1],
  ]);
});

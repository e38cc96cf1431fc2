import { describe, expect, it, vi } from "vitest";
import { checked, EPOCH_MS, fillingWindow, observeAdmission, observed } from "../../test/observed-admission.ts";
import type { DeliveryPermit } from "./attempt-port.ts";

observeAdmission();

/** The nth permit that was sent, n from 0. */
function sentAt(index: number): DeliveryPermit {
  const permit = observed.sent[index];
  if (permit === undefined) throw new Error("nothing was sent");
  return permit;
}

describe("the outcome of a request", () => {
  it.each(["delivered", "refused"] as const)("%s: makes way for what waits, though the request runs on", (outcome) => {
    for (let index = 0; index < 3; index++) observed.admit(checked("a"));
    observed.admission.settled(sentAt(0), 0, outcome, null);
    expect([observed.sent.length, observed.admission.waiting, observed.deferred.length]).toEqual([3, 0, 0]);
  });

  it.each(["failed", "delivered"] as const)(
    "%s: turns all away at once that waits for a receiver which asked not to be called",
    (outcome) => {
      for (let index = 0; index < 5; index++) observed.admit(checked("a"));
      observed.admission.settled(sentAt(0), 0, outcome, 60_000);
      expect(observed.causes()).toEqual(["retry_after", "retry_after", "retry_after"]);
      expect(observed.admission.waiting).toBe(0);
    },
  );

  it("turns all away at once that waits when it opens the breaker", () => {
    for (let index = 0; index < 8; index++) observed.admit(checked("a"));
    for (let index = 0; index < 2; index++) observed.finish(sentAt(index), "failed");
    observed.admission.settled(sentAt(2), 0, "failed", null);
    expect(observed.sent.length + observed.deferred.length).toBe(8);
    expect(new Set(observed.causes())).toEqual(new Set(["breaker_open"]));
    expect(observed.admission.waiting).toBe(0);
  });
});

describe("a URL whose requests were out while this process was blocked", () => {
  /** The event loop stands still for five seconds, of which the next tick sees all but 50 ms. */
  function block(): void {
    observed.nowMs += 5000;
    vi.advanceTimersByTime(20);
  }

  it("J6: is not taken for slow by the time of the block", () => {
    for (let index = 0; index < 3; index++) observed.admit(checked("a"));
    block();
    observed.admission.settled(sentAt(0), 0, "delivered", null);
    expect(sentAt(0).lines[0]?.health.expectedWaitMs(100, observed.nowMs)).toBe(0);
  });

  it("J6: is taken for slow by its own time, where the block was before its request began", () => {
    for (let index = 0; index < 3; index++) observed.admit(checked("a"));
    block();
    observed.admit(checked("b"));
    const permit = observed.sent.at(-1);
    if (permit?.request.destination.id !== "b") throw new Error("nothing was sent to b");
    observed.pass(400);
    observed.admission.settled(permit, 0, "delivered", null);
    expect(permit.lines[0]?.health.expectedWaitMs(100, observed.nowMs)).toBeGreaterThan(0);
  });
});

describe("the end of a request", () => {
  it("I6: makes way for what waits, where so many run on after their outcome that none may begin", () => {
    for (const id of ["other", "a"]) observed.admit(checked(id));
    observed.finish(sentAt(1), "delivered");
    for (let index = 0; index < 100; index++) observed.admit(checked("a"));
    let settled = 2;
    for (; settled < observed.sent.length; settled++) observed.admission.settled(sentAt(settled), 0, "refused", null);
    const { waiting } = observed.admission;
    expect(waiting).toBeGreaterThan(0);
    observed.admission.ended(sentAt(2), 0, "well", 0);
    expect([observed.admission.waiting, observed.sent.length]).toEqual([waiting - 1, settled + 1]);
  });
});

describe("the end of an answer that goes over its budget", () => {
  it("turns all away at once that waits when it opens the breaker, though each status was good", () => {
    observed.admit(checked("other"));
    for (let index = 0; index < 30; index++) observed.admit(checked("a"));
    for (let index = 1; index <= 3; index++) {
      observed.admission.settled(sentAt(index), 0, "delivered", null);
      observed.admission.ended(sentAt(index), 0, "over_budget", 0);
    }
    expect(new Set(observed.causes())).toEqual(new Set(["breaker_open"]));
    expect([observed.sent.length + observed.deferred.length, observed.admission.waiting]).toEqual([31, 0]);
  });
});

describe("an admission", () => {
  it("knows nothing against a destination that it had nothing to do with", () => {
    expect(observed.admission.deferralOnArrival("unknown", fillingWindow() as never)).toBeNull();
  });

  it("says of URLs that an attempt skipped until when they are not to be called, and of others nothing", () => {
    const urls = ["https://well.example/", "https://asks.example/", "https://asked.example/"];
    observed.admit(checked("a", { urls }));
    expect(observed.admission.skippedTillMs(sentAt(0))).toEqual([]);
    observed.admission.settled(sentAt(0), 0, "delivered", null);
    observed.admission.settled(sentAt(0), 1, "failed", 30_000);
    observed.admission.settled(sentAt(0), 2, "failed", 5_000);
    observed.nowMs += 5_000;
    observed.admit(checked("a", { urls }));
    expect(sentAt(1).lines.map(({ health }) => health.url)).toEqual([urls[0], urls[2]]);
    expect(observed.admission.skippedTillMs(sentAt(1))).toEqual([EPOCH_MS + 1_030_000]);
  });

  it("says nothing of the URLs that a delivery is not owed to, nor where each URL is settled by itself", () => {
    const urls = ["https://well.example/", "https://asks.example/", "https://other.example/"];
    observed.admit(checked("a", { urls }));
    observed.admission.settled(sentAt(0), 0, "delivered", null);
    observed.admission.settled(sentAt(0), 1, "failed", 30_000);
    observed.admission.settled(sentAt(0), 2, "failed", 30_000);
    observed.admit(checked("a", { urls, owed: urls.slice(0, 2) }));
    expect(sentAt(1).lines.map(({ health }) => health.url)).toEqual(urls.slice(0, 1));
    expect(observed.admission.skippedTillMs(sentAt(1))).toEqual([EPOCH_MS + 1_030_000]);

    observed.admit(checked("b", { urls, settle: "each" }));
    observed.admission.settled(sentAt(2), 0, "delivered", null);
    observed.admission.settled(sentAt(2), 1, "failed", 30_000);
    observed.admit(checked("b", { urls, settle: "each" }));
    expect(sentAt(3).lines.map(({ health }) => health.url)).toEqual([urls[0], urls[2]]);
    expect(observed.admission.skippedTillMs(sentAt(3))).toEqual([]);
  });

  it("defers what a delivery owes to single URLs in parts, each with its own cause", () => {
    const urls = ["https://asks.example/", "https://asked.example/"];
    observed.admit(checked("a", { urls, settle: "each" }));
    observed.admission.settled(sentAt(0), 0, "failed", 30_000);
    observed.admission.settled(sentAt(0), 1, "failed", 60_000);
    observed.admit(checked("a", { urls, settle: "each" }));
    expect(observed.deferred.map(({ parts }) => parts)).toMatchObject([
      [
        { cause: "retry_after", notBeforeMs: 1_030_000 },
        { cause: "retry_after", notBeforeMs: 1_060_000 },
      ],
    ]);
  });

  it("has a timer only while something waits or is watched", () => {
    const idle = vi.getTimerCount();
    for (let index = 0; index < 3; index++) observed.admit(checked("a"));
    observed.pass(100);
    expect(vi.getTimerCount()).toBe(idle + 1);
    for (let index = 0; index < 3; index++) observed.finish(sentAt(index), "delivered");
    observed.pass(100);
    expect(vi.getTimerCount()).toBe(idle);
  });

  it("sends nothing of what waits after it was closed, and has no timer", () => {
    observed.admit(checked("a"));
    observed.admission.settled(sentAt(0), 0, "failed", 900);
    observed.admission.ended(sentAt(0), 0, "failed", 0);
    observed.admit(checked("a"));
    expect(observed.admission.waiting).toBe(1);
    observed.admission.close();
    observed.pass(2_000);
    expect([observed.sent.length, observed.admission.waiting]).toEqual([1, 0]);
    observed.destinations.close();
    for (let index = 0; index < 3; index++) observed.admit(checked("b"));
    expect(vi.getTimerCount()).toBe(0);
  });
});

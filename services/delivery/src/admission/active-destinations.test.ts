import { canaryIdsOf } from "@posthaste/contracts/canary-ids";
import { describe, expect, it, vi } from "vitest";
import { checked, observeAdmission, observeAnother, observed, openWindow } from "../../test/observed-admission.ts";

observeAdmission();

/** The destination `a` manages two hundred deliveries, and is not used for so long that it is forgotten. */
function becomeKnownAndForgotten(): void {
  observeAnother({ connections: 4096 });
  for (let index = 0; index < 200; index++) observed.admit(checked("a"));
  while (observed.sent.length > 0)
    for (const permit of observed.sent.splice(0)) {
      observed.nowMs += 1;
      observed.finish(permit, "delivered");
    }
  observed.pass(120_000);
}

describe("the destinations that a process has to do with", () => {
  it("I1: remembers for hours what a receiver was seen to manage, though its destination was forgotten", () => {
    becomeKnownAndForgotten();
    observed.nowMs += 3_600_000;
    for (let index = 0; index < 200; index++) observed.admit(checked("a"));
    expect(observed.sent.length).toBeGreaterThan(32);
    expect(observed.sent.length).toBeLessThan(64);
  });

  it("I1: remembers it of each URL by itself", () => {
    becomeKnownAndForgotten();
    for (let index = 0; index < 10; index++) observed.admit(checked("b"));
    expect(observed.sent).toHaveLength(2);
    for (let index = 0; index < 10; index++) observed.admit(checked("a", { urls: ["https://other.example/"] }));
    expect(observed.sent).toHaveLength(4);
  });

  it("J3: has one that is alone from the first on, until another is used, and again a while after that", () => {
    const { destinations } = observed;
    destinations.use("a", 1_000);
    expect(destinations.isAlone("a", 1_000)).toBe(true);
    destinations.use("a", 2_000);
    expect(destinations.isAlone("a", 2_000)).toBe(true);
    destinations.use("b", 3_000);
    expect([destinations.isAlone("b", 3_000), destinations.isAlone("b", 3_001)]).toEqual([false, false]);
    destinations.use("b", 900_000);
    expect(destinations.isAlone("b", 900_000)).toBe(true);
    destinations.use("a", 900_001);
    expect(destinations.isAlone("a", 900_001)).toBe(false);
  });

  it("J3: has one that is alone beside a canary, which itself never is", () => {
    const { destinations } = observed;
    const { destinationId: canary } = canaryIdsOf("http://control:8090");
    destinations.use(canary, 500);
    expect(destinations.isAlone(canary, 500)).toBe(false);
    for (let nowMs = 1_000; nowMs < 60_000; nowMs += 10_000) {
      destinations.use("a", nowMs);
      destinations.use(canary, nowMs);
      expect([destinations.isAlone(canary, nowMs), destinations.isAlone("a", nowMs)]).toEqual([false, true]);
    }
  });

  it("are heard of while their requests begin and end", () => {
    const isHeard = () => observed.destinations.wasHeardLately("a", observed.nowMs);
    expect(isHeard()).toBe(false);
    observed.admit(checked("a"));
    observed.nowMs += 30_000;
    expect(isHeard()).toBe(true);
    observed.nowMs += 1;
    expect(isHeard()).toBe(false);
    observed.finish(observed.sent[0], "delivered");
    expect(isHeard()).toBe(true);
  });

  it("J2: keeps what it knows of a destination that was used a moment ago", () => {
    observed.admit(checked("a"));
    observed.finish(observed.sent[0], "delivered");
    const known = observed.destinations.peek("a");
    for (let turn = 0; turn < 20; turn++) {
      observed.pass(10_000);
      expect(observed.destinations.use("a", observed.nowMs)).toBe(known);
    }
  });

  it("leaves no timer behind", () => {
    observed.admission.close();
    observed.destinations.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("J3: leaves what waits for a destination that is alone where it is, unless it stalls in a full window", () => {
    const window = openWindow();
    for (let index = 0; index < 10; index++) observed.admit(checked("a", { window }));
    observed.pass(30_000);
    expect([observed.deferred.length, observed.admission.waiting]).toEqual([0, 8]);
    window.isFull = true;
    window.records = 500;
    window.ownedBy = () => 500;
    observed.pass(100);
    expect(observed.deferred).toHaveLength(8);
  });

  it("counts URLs by the state of their breaker, and forgets those that are idle", () => {
    observed.admit(checked("good"));
    observed.finish(observed.sent[0], "delivered");
    for (let index = 0; index < 3; index++) {
      observed.admit(checked("bad"));
      observed.finish(observed.sent.at(-1), "failed");
    }
    expect(observed.destinations.breakers()).toEqual({ closed: 1, open: 1, half_open: 0 });
    observed.admit(checked("bad"));
    expect(observed.causes()).toEqual(["breaker_open"]);
    observed.pass(120_000);
    expect(observed.destinations.breakers()).toEqual({ closed: 0, open: 1, half_open: 0 });
    observed.pass(600_000);
    expect(observed.destinations.breakers()).toEqual({ closed: 0, open: 0, half_open: 0 });
  });

  it("J2: keeps an idle destination while deliveries of it have not returned from the retry topics", () => {
    observed.admit(checked("a"));
    observed.finish(observed.sent[0], "delivered");
    observed.retryBacklog.add("a");
    observed.pass(120_000);
    expect(observed.retryBacklog.sizeOf("a")).toBe(1);
    observed.retryBacklog.remove("a");
    observed.pass(120_000);
    expect(observed.destinations.peek("a")).toBeUndefined();
  });

  it("J2: trusts a destination again that was changed", () => {
    for (let index = 0; index < 3; index++) {
      observed.admit(checked("bad"));
      observed.finish(observed.sent.at(-1), "failed");
    }
    observed.admit(checked("bad", { revision: 2 }));
    expect([observed.sent.length, observed.deferred.length]).toEqual([4, 0]);
  });

  it("J2: has what waited for a destination that was changed checked again, once, before what comes later", () => {
    for (let index = 0; index < 5; index++) observed.admit(checked("a"));
    observed.admit(checked("a", { revision: 2, urls: ["https://new.example/"] }));
    expect([observed.checkedAgain.length, observed.admission.waiting, observed.deferred.length]).toEqual([3, 0, 0]);
    expect(observed.sent.at(-1)?.lines.map(({ health }) => health.url)).toEqual(["https://new.example/"]);
    observed.finish(observed.sent[0], "delivered");
    expect(observed.sent).toHaveLength(3);
  });
});

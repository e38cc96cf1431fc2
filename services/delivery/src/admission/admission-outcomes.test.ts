import { describe, expect, it } from "vitest";
import { checked, fillingWindow, observeAdmission, observed } from "../../test/observed-admission.ts";
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
    for (let index = 0; index < 3; index++) observed.admission.settled(sentAt(index), 0, "failed", null);
    expect(observed.sent.length + observed.deferred.length).toBe(8);
    expect(new Set(observed.causes())).toEqual(new Set(["breaker_open"]));
    expect(observed.admission.waiting).toBe(0);
  });
});

describe("an admission", () => {
  it("knows nothing against a destination that it had nothing to do with", () => {
    expect(observed.admission.deferralOnArrival("unknown", fillingWindow() as never)).toBeNull();
  });

  it("says of URLs that an attempt left out until when they are not to be called, and of others nothing", () => {
    const urls = ["https://well.example/", "https://asks.example/", "https://asked.example/"];
    observed.admit(checked("a", { urls }));
    expect(observed.admission.leftOutTillMs(sentAt(0))).toEqual([]);
    observed.admission.settled(sentAt(0), 0, "delivered", null);
    observed.admission.settled(sentAt(0), 1, "failed", 30_000);
    observed.admission.settled(sentAt(0), 2, "failed", 5_000);
    observed.nowMs += 5_000;
    observed.admit(checked("a", { urls }));
    expect(sentAt(1).lines.map(({ health }) => health.url)).toEqual([urls[0], urls[2]]);
    expect(observed.admission.leftOutTillMs(sentAt(1))).toEqual([1_030_000]);
  });

  it("sends nothing of what waits after it was closed, and has no timer", () => {
    observed.admit(checked("a"));
    observed.admission.settled(sentAt(0), 0, "failed", 900);
    observed.admission.ended(sentAt(0), 0);
    observed.admit(checked("a"));
    expect(observed.admission.waiting).toBe(1);
    observed.admission.close();
    observed.pass(2_000);
    expect([observed.sent.length, observed.admission.waiting]).toEqual([1, 0]);
  });
});

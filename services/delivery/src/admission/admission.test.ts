/** Rules: CB3 of connection-budget.ts, UC2 of url-choice.ts. */
import { describe, expect, it } from "vitest";
import {
  checked,
  fillingWindow,
  observeAdmission,
  observeAnother,
  observed,
  openWindow,
} from "../../test/observed-admission.ts";

observeAdmission();

describe("admission", () => {
  it("J1: sends within the concurrency limit, and what waited as soon as a request ends", () => {
    for (let index = 0; index < 3; index++) observed.admit(checked("a"));
    expect([observed.sent.length, observed.admission.waiting]).toEqual([2, 1]);
    observed.finish(observed.sent[0], "delivered");
    expect([observed.sent.length, observed.admission.waiting]).toEqual([3, 0]);
  });

  it("tells the delays of first attempts, without those that waited for a destination that is alone", () => {
    observed.admit(checked("b"));
    for (let index = 0; index < 3; index++) observed.admit(checked("a"));
    observed.nowMs += 500;
    observed.finish(observed.sent[1], "delivered");
    // The first of the process was alone, and nothing had come back from it yet.
    expect(observed.firstDelaysMs).toEqual([1000, 1000, 1500]);
    // Nothing else was used for five minutes.
    observed.nowMs += 300_000;
    for (let index = 0; index < 8; index++) observed.admit(checked("a"));
    expect(observed.admission.waiting).toBeGreaterThan(0);
    // The one that took the last place waited for the destination, as those behind it do.
    expect([observed.sent.length, observed.firstDelaysMs.length]).toEqual([5, 4]);
  });

  it("keeps one destination's limit apart from another's", () => {
    for (let index = 0; index < 3; index++) observed.admit(checked("a"));
    observed.admit(checked("b"));
    expect(observed.sent.at(-1)?.request.destination.id).toBe("b");
  });

  it("I1: lets deliveries wait for a hanging destination where the window has a place, else defers", () => {
    observed.admit(checked("b"));
    for (let index = 0; index < 10; index++) observed.admit(checked("a"));
    observed.pass(4000);
    expect([observed.deferred.length, observed.admission.waiting]).toEqual([0, 8]);
    const window = fillingWindow();
    for (let index = 0; index < 10; index++) observed.admit(checked("c", { window }));
    observed.pass(1500);
    expect(observed.deferred).toEqual([]);
    observed.pass(100);
    expect(observed.causes()).toEqual(Array(8).fill("concurrency_limit"));
    expect(observed.admission.waiting).toBe(8);
  });

  it("I1: serves a burst to a receiver that is slow and well beside others as it does alone", () => {
    observeAnother({ connections: 4096 });
    observed.admit(checked("b"));
    for (let index = 0; index < 200; index++) observed.admit(checked("a"));
    const startedMs = observed.nowMs;
    for (let done = 0; observed.admission.waiting > 0; done++) {
      if (done > 20) throw new Error(`${observed.admission.waiting} wait still`);
      observed.pass(500);
      for (const permit of observed.sent.splice(0)) observed.finish(permit, "delivered");
    }
    expect(observed.deferred).toEqual([]);
    // The limit doubles each half second, from 2 to 64.
    expect(observed.nowMs - startedMs).toBeLessThanOrEqual(4000);
  });

  it("sees within 250 ms that a quick destination holds its deliveries up, though none waits for it", () => {
    expect(observed.admission.isHeldUp("a")).toBe(false);
    observed.admit(checked("a"));
    expect(observed.admission.isHeldUp("a")).toBe(true);
    observed.finish(observed.sent[0], "delivered");
    observed.admit(checked("a"));
    expect(observed.admission.isHeldUp("a")).toBe(false);
    observed.pass(250);
    expect(observed.admission.isHeldUp("a")).toBe(true);
    observed.finish(observed.sent[1], "delivered");
    expect(observed.admission.isHeldUp("a")).toBe(false);
  });

  it("CB3: has a place for a newcomer beside more that hang than there are connections, once they are seen to", () => {
    const window = fillingWindow();
    for (let index = 0; index < 100; index++) observed.admit(checked(`hang-${index}`, { window }));
    expect(observed.sent).toHaveLength(56);
    observed.admit(checked("new", { window }));
    observed.pass(1560);
    expect(observed.causes()).toEqual(Array(45).fill("concurrency_limit"));
    for (const permit of observed.sent.splice(0)) observed.finish(permit, "timed_out");
    for (let index = 0; index < 56; index++) observed.admit(checked(`hang-${index}`, { window }));
    expect([observed.sent.length, observed.deferred.length]).toEqual([32, 45 + 24]);
    observed.admit(checked("new", { window }));
    expect(observed.sent.at(-1)?.request.destination.id).toBe("new");
  });

  it("UC2, J4: sees of a healthy destination that it hangs now, though nothing waits for it", () => {
    for (let index = 0; index < 30; index++) {
      observed.admit(checked(`well-${index}`));
      observed.finish(observed.sent.at(-1), "delivered");
    }
    observed.sent = [];
    for (let index = 0; index < 30; index++) observed.admit(checked(`well-${index}`));
    observed.pass(240);
    for (let index = 0; index < 30; index++) observed.admit(checked(`well-${index}`));
    // The first 15 were observed.sent before a quarter of the connections was in use, so nobody watched them.
    expect([observed.sent.length, observed.admission.waiting]).toEqual([30 + 15, 15]);
  });

  it("J1: neither sends nor defers what waited for a partition that was given up", () => {
    const window = openWindow();
    for (let index = 0; index < 3; index++) observed.admit(checked("a", { window }));
    window.isRevoked = true;
    observed.finish(observed.sent[0], "delivered");
    expect([observed.sent.length, observed.deferred.length, observed.admission.waiting]).toEqual([2, 0, 0]);
    observed.admit(checked("a"));
    expect(observed.sent).toHaveLength(3);
  });

  it("has the capacity again of a permit that it took back", () => {
    observeAnother({ firstLimit: 3 });
    for (let index = 0; index < 2; index++) observed.admit(checked("a"));
    observed.isCurrent = false;
    observed.admit(checked("a"));
    observed.isCurrent = true;
    observed.admit(checked("a"));
    expect(observed.sent).toHaveLength(3);
  });

  it("W5: says until when the receiver asked not to be called, and waits when that is near", () => {
    observed.admit(checked("a"));
    const [permit] = observed.sent;
    if (permit === undefined) throw new Error("nothing was sent");
    observed.admission.settled(permit, 0, "failed", 5000);
    observed.admission.ended(permit, 0, "failed", 0);
    observed.admit(checked("a"));
    expect(observed.deferred).toMatchObject([{ parts: [{ cause: "retry_after", notBeforeMs: 1_005_000 }] }]);
    observed.pass(4500);
    observed.admit(checked("a"));
    expect(observed.admission.waiting).toBe(1);
    observed.pass(600);
    expect([observed.admission.waiting, observed.sent.length]).toEqual([0, 2]);
  });

  it("I5, J4: sees that one of a destination's URLs hangs though nothing waits for it", () => {
    const urls = ["https://well.example/", "https://hangs.example/"];
    const calledUrls = () => observed.sent.at(-1)?.lines.map(({ health }) => health.url);
    observed.admit(checked("a", { urls }));
    expect(calledUrls()).toEqual(urls);
    const [permit] = observed.sent;
    if (permit === undefined) throw new Error("nothing was sent");
    observed.admission.settled(permit, 0, "delivered", null);
    observed.admission.ended(permit, 0, "well", 0);
    observed.admit(checked("a", { urls }));
    expect(calledUrls()).toEqual(urls);
    observed.pass(1600);
    observed.admit(checked("a", { urls }));
    expect(calledUrls()).toEqual(urls.slice(0, 1));
    expect(observed.admission.skippedTillMs(observed.sent.at(-1) ?? permit)).toEqual([null]);
  });
});

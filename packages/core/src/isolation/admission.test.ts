import { describe, expect, it } from "vitest";
import {
  A,
  ALONE,
  AMONG_OTHERS,
  admissionOf,
  arrive,
  B,
  back,
  broken,
  CROWDING,
  FILLING,
  fill,
  finish,
  given,
  one,
  practised,
  SCARCE,
} from "../../test/destination-admission.ts";
import { ConnectionBudget } from "./connection-budget.ts";

describe("what admission says of a destination of two URLs", () => {
  it("is whether something is unsettled, nothing is out or waits, and nothing stands against it", () => {
    const admission = admissionOf([A, B], "each");
    const says = (nowMs = 0) => [admission.hasUnsettled, admission.isEmpty, admission.isIdle(nowMs)];
    expect(says()).toEqual([false, true, true]);
    const permit = given(admission, 0);
    expect(says()).toEqual([true, false, false]);
    finish(permit, "delivered", 1, A);
    expect(says(1)).toEqual([true, false, false]);
    permit.lines[1]?.health.settled("delivered", { startedMs: 0, wasProbe: false }, 2);
    expect(says(2)).toEqual([false, false, false]);
    permit.lines[1]?.health.ended("well", false, 2);
    expect(says(2)).toEqual([false, true, true]);
    admission.urls[1]?.shutUntil(100);
    expect(says(99)).toEqual([false, true, false]);
    expect(says(100)).toEqual([false, true, true]);
  });

  it("is neither empty nor idle while a delivery waits with nothing out", () => {
    const admission = admissionOf();
    admission.setRate(1, 0);
    finish(given(admission, 0), "delivered", 1);
    expect(arrive(admission, 1)).toBeNull();
    expect([admission.waiting, admission.isEmpty, admission.isIdle(1), admission.hasUnsettled]).toEqual([
      1,
      false,
      false,
      false,
    ]);
  });
});

describe("a destination", () => {
  it("holds its deliveries up until a first answer came, and then while its requests need long", () => {
    const admission = admissionOf();
    expect(admission.isHeldUp(0)).toBe(true);
    finish(given(admission, 0), "refused", 249);
    expect(admission.isHeldUp(249)).toBe(false);
    finish(given(admission, 249), "delivered", 600);
    expect(admission.isHeldUp(600)).toBe(true);
  });

  it("holds them up while nothing comes back from one of its URLs, and after a congestion", () => {
    const admission = admissionOf([A, B]);
    const [first, second] = [given(admission, 0), given(admission, 0)];
    finish(first, "delivered", 1, A);
    finish(first, "delivered", 1, B);
    admission.passed(200);
    expect(admission.isHeldUp(201)).toBe(false);
    admission.passed(1);
    expect(admission.isHeldUp(202)).toBe(true);
    finish(second, "delivered", 202, A);
    finish(second, "throttled", 202, B);
    expect(admission.isHeldUp(203)).toBe(true);
  });

  it("holds them up where they wait for its rate for a fifth of a second and more", () => {
    const admission = admissionOf();
    finish(given(admission, 0), "delivered", 1);
    admission.setRate(10, 1);
    while (arrive(admission, 1) !== null);
    expect(admission.isHeldUp(1)).toBe(false);
    expect([arrive(admission, 1), admission.isHeldUp(1)]).toEqual([null, true]);
    expect(admission.isHeldUp(102)).toBe(false);
  });

  it("holds them up while its Retry-After runs, and while most of its requests hang", () => {
    const admission = admissionOf();
    finish(given(admission, 0), "delivered", 1);
    admission.urls[0]?.shutUntil(500);
    expect([admission.isHeldUp(499), admission.isHeldUp(500)]).toEqual([true, false]);
    const hanging = Array.from({ length: 3 }, () => given(admission, 500));
    // One answer comes in each tenth of a second, so that it is never quiet, and far fewer than four at once bring.
    for (let nowMs = 500; nowMs < 900; nowMs += 100) {
      const answered = given(admission, nowMs);
      admission.passed(100);
      finish(answered, "delivered", nowMs + 1);
    }
    expect([hanging.length, admission.urls[0]?.isQuiet, admission.isHeldUp(900)]).toEqual([3, false, true]);
  });
});

describe("admission to one URL", () => {
  it("AD1: is given up to the limit, then there is a wait, and a request that ends makes way for the next", () => {
    const admission = admissionOf();
    const permits = Array.from({ length: 4 }, () => given(admission, 0));
    expect([arrive(admission, 0), arrive(admission, 0), admission.next(1)]).toEqual([null, null, null]);
    for (const permit of permits.slice(0, 1)) finish(permit, "refused", 1);
    expect(admission.next(1)?.request).toBe(one);
    expect(admission.waiting).toBe(1);
  });

  it("gives back a permit that was not used, and what it took of the rate", () => {
    const admission = admissionOf();
    admission.setRate(1, 0);
    const permit = given(admission, 0);
    expect(arrive(admission, 0)).toBeNull();
    admission.cancelled(permit);
    expect(admission.next(0)?.isGiven).toBe(true);
    expect(admission.urls.map(({ out }) => out)).toEqual([1]);
  });

  it("AD2, I1: is waited for while the expected wait is under the smallest retry delay, and no longer", () => {
    const slow = practised(4000);
    fill(slow, 5000);
    // Two at once, 4 s each: the sixth of those that wait would wait for 10 s and more.
    const more = Array.from({ length: 5 }, () => arrive(slow, 5000));
    expect(more).toEqual([null, null, null, null, ["concurrency_limit"]]);
  });

  it("AD2, I1: is waited for by a destination that is alone, however slow", () => {
    const slow = practised(4000);
    fill(slow, 5000);
    for (let index = 0; index < 500; index++) expect(arrive(slow, 5000, ALONE)).toBeNull();
    expect(slow.overdue(5900, () => ALONE)).toBeNull();
  });

  it("AD2: is waited for, however long the queue, by one that is quick and was not congested", () => {
    const quick = admissionOf();
    finish(given(quick, 0), "delivered", 100);
    fill(quick, 100);
    for (let index = 0; index < 5000; index++) expect(arrive(quick, 100, CROWDING)).toBeNull();
  });

  it("AD2, I1: is waited for where nothing comes back, as long as the window does not fill", () => {
    const hanging = admissionOf();
    fill(hanging, 0);
    hanging.passed(4900);
    expect([arrive(hanging, 4900), hanging.overdue(4900, () => AMONG_OTHERS)]).toEqual([null, null]);
  });

  it("AD3: is not waited for in a window that fills, where nothing came back for 1.5 s that this process saw", () => {
    const hanging = admissionOf();
    fill(hanging, 0);
    hanging.passed(1500);
    expect(arrive(hanging, 60_000, FILLING)).toBeNull();
    hanging.passed(1);
    expect(arrive(hanging, 60_001, FILLING)).toEqual(["concurrency_limit"]);
    expect(arrive(hanging, 60_001, { ...FILLING, isAlone: true })).toBeNull();
    expect(arrive(hanging, 60_001, { ...CROWDING, isAlone: true })).toEqual(["concurrency_limit"]);
  });

  it("AD3: is waited for less in a full window that the destination holds most of", () => {
    const hanging = admissionOf();
    fill(hanging, 0);
    hanging.passed(201);
    expect([arrive(hanging, 201, FILLING), arrive(hanging, 201, CROWDING)]).toEqual([null, ["window_full"]]);
    const slow = practised(400);
    fill(slow, 1000);
    expect([arrive(slow, 1000, FILLING), arrive(slow, 1000, CROWDING)]).toEqual([null, ["window_full"]]);
  });

  it("AD3: is waited for less in a window that fills while others get through and nothing comes back", () => {
    const hanging = admissionOf();
    fill(hanging, 0);
    hanging.passed(199);
    expect(arrive(hanging, 199, SCARCE)).toBeNull();
    hanging.passed(2);
    expect([arrive(hanging, 201, FILLING), arrive(hanging, 201, SCARCE)]).toEqual([null, ["window_full"]]);
    const slow = practised(400);
    fill(slow, 1000);
    slow.passed(599);
    expect(arrive(slow, 1599, SCARCE)).toBeNull();
    slow.passed(2);
    expect(arrive(slow, 1601, SCARCE)).toEqual(["window_full"]);
  });

  it("AD3: is deferred on arrival where a window fills and nothing comes back; not elsewhere, nor when alone", () => {
    const hanging = admissionOf();
    expect(hanging.deferralOnArrival(SCARCE)).toBeNull();
    const permit = given(hanging, 0);
    fill(hanging, 0);
    hanging.passed(201);
    const contexts = [AMONG_OTHERS, FILLING, SCARCE, CROWDING, ALONE, { ...SCARCE, isAlone: true }];
    const answers = () => contexts.map((context) => hanging.deferralOnArrival(context));
    expect(answers()).toEqual([null, null, "window_full", "window_full", null, null]);
    hanging.passed(1300);
    expect(answers()).toEqual([null, "concurrency_limit", "concurrency_limit", "concurrency_limit", null, null]);
    finish(permit, "delivered", 1002);
    expect(answers()).toEqual([null, null, null, null, null, null]);
  });

  it("I2: goes to first attempts and retries alternately while both wait", () => {
    const busy = admissionOf();
    const permits = Array.from({ length: 4 }, () => given(busy, 0));
    for (let index = 0; index < 10; index++) arrive(busy, 0);
    for (let index = 0; index < 10; index++) arrive(busy, 0, AMONG_OTHERS, back);
    const order: boolean[] = [];
    for (let nowMs = 1; order.length < 8; nowMs++) {
      const permit = permits.shift();
      if (permit !== undefined) finish(permit, "refused", nowMs);
      for (let next = busy.next(nowMs); next !== null; next = busy.next(nowMs)) {
        order.push(next.request.isRetry);
        permits.push(next);
      }
    }
    expect(order.slice(0, 8).filter((isRetry) => isRetry)).toHaveLength(4);
  });

  it("AD4: what waited is deferred when the breaker opens, all of it", () => {
    const failing = admissionOf();
    const permits = Array.from({ length: 4 }, () => given(failing, 0));
    arrive(failing, 0);
    arrive(failing, 0, AMONG_OTHERS, back);
    for (const permit of permits) finish(permit, "failed", 10);
    const fifth = failing.next(10);
    if (fifth === null) throw new Error("nothing waited");
    finish(fifth, "failed", 10);
    expect(failing.urls[0]?.breaker.state).toBe("open");
    // The first waiter meets the breaker first; the rest is overdue.
    expect(failing.next(10)?.deferred).toMatchObject([{ cause: "breaker_open" }]);
    expect(arrive(failing, 11, ALONE)).toEqual(["breaker_open"]);
    expect(failing.waiting).toBe(0);
  });

  it("W5: is not called before its `Retry-After` ends: deferred when that is far, waited for when it is near", () => {
    const shut = admissionOf();
    shut.urls[0]?.shutUntil(5000);
    const permit = shut.admit(one, 0, () => ALONE);
    expect(permit?.deferred).toEqual([{ urls: [A], cause: "retry_after", notBeforeMs: 5000 }]);
    expect(arrive(shut, 4500, ALONE)).toBeNull();
    expect([shut.next(4999), shut.overdue(4999, () => AMONG_OTHERS)]).toEqual([null, null]);
    expect(shut.next(5000)?.isGiven).toBe(true);
  });

  it("goes to a probe when the breaker's time has passed, and the URL is trusted again when that succeeds", () => {
    const failing = admissionOf();
    broken(failing, "failed", 0);
    const probe = given(failing, 1000);
    expect(probe.wasProbe(0)).toBe(true);
    expect(arrive(failing, 1000)).toEqual(["breaker_open"]);
    finish(probe, "delivered", 1010);
    expect(given(failing, 1010).wasProbe(0)).toBe(false);
  });

  it("follows the destination's rate, and its changes", () => {
    const rated = admissionOf();
    rated.setRate(10, 0);
    expect([arrive(rated, 0), arrive(rated, 0)]).toEqual([[A], null]);
    expect(rated.next(99)).toBeNull();
    expect(rated.next(100)).not.toBeNull();
    rated.setRate(null, 100);
    expect(arrive(rated, 100)).toEqual([A]);
  });

  it("gives out what waited when the destination is changed, and trusts its URLs again", () => {
    const changed = admissionOf();
    changed.setRate(1, 0);
    fill(changed, 0);
    changed.urls[0]?.shutUntil(60_000);
    expect(changed.configure([A, B], "any")).toEqual([one]);
    changed.setRate(null, 0);
    expect([changed.waiting, arrive(changed, 1)]).toEqual([0, [A, B]]);
  });

  it("CB2: is one delivery's at once, until the URL is healthy, while many are out to those that are not", () => {
    const shared = new ConnectionBudget(64);
    shared.changed(8, 8);
    const unknown = admissionOf([A], "any", shared);
    const permit = given(unknown, 0);
    expect([arrive(unknown, 0), unknown.next(1)]).toEqual([null, null]);
    finish(permit, "failed", 1);
    expect(unknown.next(1)?.isGiven).toBe(true);
    expect([arrive(unknown, 1), arrive(unknown, 1)]).toEqual([[A], [A]]);
  });
});

describe("admission of last attempts", () => {
  it("AD5, I3: is given whatever the breaker says or the receiver asked for, and takes no probe", () => {
    const admission = admissionOf();
    broken(admission, "failed", 0);
    admission.urls[0]?.shutUntil(60_000);
    const permit = admission.admitLast(one, 1000);
    expect(permit).toMatchObject({ isGiven: true, isLast: true });
    expect(permit !== null && permit !== "full" && permit.wasProbe(0)).toBe(false);
  });

  it("AD5, I1: keeps to the destination's rate: waits for it, or comes again later where many wait", () => {
    const admission = admissionOf();
    admission.setRate(1, 0);
    const answers = Array.from({ length: 13 }, () => admission.admitLast(one, 0));
    expect(answers.map((answer) => (answer === null || answer === "full" ? answer : "given"))).toEqual([
      "given",
      ...Array(10).fill(null),
      "full",
      "full",
    ]);
    let sent = 0;
    for (let nowMs = 100; nowMs <= 10_000; nowMs += 100) while (admission.next(nowMs) !== null) sent += 1;
    expect([sent, admission.waiting]).toEqual([10, 0]);
  });

  it("AD5: waits behind other last attempts alone: what waits in queues goes after it", () => {
    const admission = admissionOf();
    admission.setRate(1, 0);
    expect(arrive(admission, 0, ALONE)).toEqual([A]);
    for (let index = 0; index < 15; index++) expect(arrive(admission, 0, ALONE)).toBeNull();
    expect(admission.admitLast(one, 0)).toBeNull();
    expect(admission.next(1000)).toMatchObject({ isLast: true });
    // A delivery that was served or given out is ahead of nobody.
    for (let index = 0; index < 10; index++) expect(admission.admitLast(one, 1000)).toBeNull();
    expect(admission.admitLast(one, 1000)).toBe("full");
    expect(admission.configure([A], "any")).toHaveLength(25);
    expect(admission.admitLast(one, 1000)).toBeNull();
  });

  it("CB3: comes again later while the connection budget refuses a first request", () => {
    const shared = new ConnectionBudget(64);
    const admission = admissionOf([A], "any", shared);
    finish(given(admission, 0), "timed_out", 5000);
    shared.changed(32, 32);
    expect(admission.admitLast(one, 5000)).toBe("full");
  });
});

/** Rules: UC1 and UC2 of url-choice.ts. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SettleRule } from "../config/destination.ts";
import { type AdmissionSettings, DestinationAdmission } from "./admission.ts";
import { ConnectionBudget } from "./connection-budget.ts";
import type { LoadContext } from "./load-context.ts";
import type { AdmissionRequest, Permit } from "./permit.ts";
import type { RequestOutcome } from "./url-health.ts";

const SETTINGS: AdmissionSettings = {
  limit: { first: 4, least: 1, enough: 64, most: 64 },
  breaker: { threshold: 5, firstOpenMs: 1000, longestOpenMs: 8000 },
  longestWaitMs: 10_000,
};
const AMONG_OTHERS: LoadContext = { isAlone: false, isFilling: false, isCrowding: false, isScarce: false };
const ALONE: LoadContext = { ...AMONG_OTHERS, isAlone: true };
const FILLING: LoadContext = { ...AMONG_OTHERS, isFilling: true };
const SCARCE: LoadContext = { ...FILLING, isScarce: true };
const CROWDING: LoadContext = { ...FILLING, isCrowding: true };

const A = "https://a.example/";
const B = "https://b.example/";

const one: AdmissionRequest = { owed: null, isRetry: false };
const back: AdmissionRequest = { owed: null, isRetry: true };

type Admission = DestinationAdmission<AdmissionRequest>;
type Given = Permit<AdmissionRequest>;

function admissionOf(urls: readonly string[] = [A], settle: SettleRule = "any", shared = new ConnectionBudget(1000)) {
  const admission: Admission = new DestinationAdmission(SETTINGS, shared);
  admission.configure(urls, settle);
  return admission;
}

/**
 * What became of a delivery that arrived: the URLs that it goes to, the cause of its deferral, or null while it waits.
 */
function arrive(admission: Admission, nowMs: number, context = AMONG_OTHERS, request = one): readonly string[] | null {
  const permit = admission.admit(request, nowMs, () => context);
  return permit === null ? null : told(permit);
}

function told(permit: Given): readonly string[] {
  if (permit.isGiven) return permit.lines.map(({ health }) => health.url);
  return permit.deferred.map(({ cause }) => cause);
}

function given(admission: Admission, nowMs: number, request = one): Given {
  const permit = admission.admit(request, nowMs, () => AMONG_OTHERS);
  if (permit === null || !permit.isGiven) throw new Error("the delivery got no permit");
  return permit;
}

/** One URL of a permit comes to an outcome and ends. */
function finish(permit: Given, outcome: RequestOutcome, nowMs: number, url = A): void {
  const index = permit.lines.findIndex(({ health }) => health.url === url);
  const health = permit.lines[index]?.health;
  if (health === undefined) throw new Error(`${url} was not called`);
  health.settled(outcome, { startedMs: permit.startedMs, wasProbe: permit.wasProbe(index) }, nowMs);
  health.ended();
}

/** Every request took so long, and the limit was halved for it. */
function practised(takesMs: number, shared?: ConnectionBudget): Admission {
  const admission = admissionOf([A], "any", shared);
  finish(given(admission, 0), "throttled", takesMs);
  return admission;
}

function fill(admission: Admission, nowMs: number): void {
  while (arrive(admission, nowMs, ALONE) !== null);
  expect(admission.waiting).toBe(1);
}

/** Its URL failed until its breaker opened. */
function broken(admission: Admission, outcome: RequestOutcome, nowMs: number, url = A): void {
  for (let failures = 0; failures < SETTINGS.breaker.threshold; failures++) {
    finish(given(admission, nowMs, { owed: [url], isRetry: true }), outcome, nowMs, url);
  }
}

describe("what admission says of a destination of two URLs", () => {
  it("is whether something is unsettled, whether nothing is out or waits, and whether nothing stands against it", () => {
    const admission = admissionOf([A, B], "each");
    const says = (nowMs = 0) => [admission.hasUnsettled, admission.isEmpty, admission.isIdle(nowMs)];
    expect(says()).toEqual([false, true, true]);
    const permit = given(admission, 0);
    expect(says()).toEqual([true, false, false]);
    finish(permit, "delivered", 1, A);
    expect(says(1)).toEqual([true, false, false]);
    permit.lines[1]?.health.settled("delivered", { startedMs: 0, wasProbe: false }, 2);
    expect(says(2)).toEqual([false, false, false]);
    permit.lines[1]?.health.ended();
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

  it("AD3: is not waited for, in a window that fills, where nothing came back for a second and a half that this process saw pass", () => {
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

  it("AD3: is waited for less in a window that fills while others get through, by one that nothing comes back from", () => {
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

  it("AD3: is deferred on arrival in a window that fills while nothing comes back, and in no other, nor where the destination is alone", () => {
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
    expect(failing.urls[0]?.breakerState).toBe("open");
    // Who waits first meets the breaker first; the rest is overdue.
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
    // What was served or given out is ahead of nobody.
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

describe("admission to several URLs under `settle: any`", () => {
  it("UC1: calls all that are well, and what a slow one still owes does not hold up the next delivery", () => {
    const admission = admissionOf([A, B]);
    finish(given(admission, 0), "delivered", 1, B);
    for (let index = 0; index < 20; index++) {
      const permit = given(admission, 10 + index);
      expect(told(permit)).toEqual([A, B]);
      finish(permit, "delivered", 10 + index, A);
    }
  });

  it("I5: leaves out a URL that stalls, whose breaker is open or that sent a `Retry-After`, and probes it beside the other", () => {
    const admission = admissionOf([A, B]);
    for (let index = 0; index < 4; index++) finish(given(admission, 0), "delivered", 1, A);
    // B has its fill and is not known to answer: that is waited for, and not for long.
    expect(arrive(admission, 2)).toBeNull();
    admission.passed(1501);
    expect(admission.next(1003)?.lines.map(({ health }) => health.url)).toEqual([A]);
    expect(arrive(admission, 1004)).toEqual([A]);

    const other = admissionOf([A, B]);
    broken(other, "failed", 0, B);
    expect(arrive(other, 1)).toEqual([A]);
    const probing = given(other, 1000);
    expect([told(probing), probing.wasProbe(0), probing.wasProbe(1)]).toEqual([[A, B], false, true]);
    expect(arrive(other, 1001)).toEqual([A]);
    other.urls[0]?.shutUntil(9000);
    const permit = other.admit(one, 1002, () => AMONG_OTHERS);
    expect(permit?.deferred).toMatchObject([{ urls: [A, B], cause: "breaker_open", notBeforeMs: null }]);
  });

  it("UC1: waits for capacity of the URL that works, and does not go to the one alone of which the last request timed out", () => {
    const admission = admissionOf([A, B]);
    finish(given(admission, 0, { owed: [B], isRetry: true }), "timed_out", 5000, B);
    finish(given(admission, 5000, { owed: [A], isRetry: true }), "refused", 5000, A);
    while (admission.urls[0]?.hasCapacity()) given(admission, 5000, { owed: [A], isRetry: true });
    expect(admission.urls.map(({ isSound }) => isSound)).toEqual([true, false]);
    expect(admission.urls[1]?.hasCapacity()).toBe(true);
    expect(arrive(admission, 5000)).toBeNull();
  });

  it("takes of the rate as much as it makes requests", () => {
    const admission = admissionOf([A, B]);
    admission.setRate(10, 0);
    expect([arrive(admission, 0), arrive(admission, 0)]).toEqual([[A, B], null]);
    expect([admission.next(199), admission.next(200)?.isGiven]).toEqual([null, true]);
  });

  it("W5: is deferred till the first URL may be called again when all sent a `Retry-After`", () => {
    const admission = admissionOf([A, B]);
    admission.urls[0]?.shutUntil(9000);
    admission.urls[1]?.shutUntil(5000);
    const permit = admission.admit(one, 0, () => AMONG_OTHERS);
    expect(permit?.deferred).toEqual([{ urls: [A, B], cause: "retry_after", notBeforeMs: 5000 }]);
  });

  /** B has its fill, nothing of it has come back yet, and a delivery waits for it, though A could take it. */
  function waitingForB(): Admission {
    const admission = admissionOf([A, B]);
    for (let index = 0; index < 4; index++) finish(given(admission, 0), "delivered", 1, A);
    expect(arrive(admission, 2)).toBeNull();
    admission.passed(201);
    return admission;
  }

  it("UC1, I5: goes to the URL that is well alone where a window fills, and another one is not to be waited for any longer", () => {
    const waited = waitingForB();
    const permit = waited.overdue(203, () => SCARCE);
    expect([permit && told(permit), permit?.isGiven, waited.waiting]).toEqual([[A], true, 0]);
    // So does one that arrives then.
    expect(arrive(waitingForB(), 203, SCARCE)).toEqual([A]);
  });

  it("UC1: is deferred where a window fills and no other URL is sound, and for its own cause", () => {
    const doubted = waitingForB();
    doubted.urls[0]?.shutUntil(3_600_000);
    const permit = doubted.admit(one, 203, () => SCARCE);
    expect(permit?.deferred).toEqual([{ urls: [A, B], cause: "window_full", notBeforeMs: null }]);

    const timedOut = waitingForB();
    finish(given(timedOut, 203, { owed: [A], isRetry: true }), "timed_out", 203, A);
    expect(arrive(timedOut, 203, SCARCE)).toEqual(["window_full"]);
  });

  it("UC1: is deferred for all of its URLs, and without a moment, when the one that was left sends a `Retry-After` too", () => {
    const admission = waitingForB();
    const ofA: Given[] = [];
    while (admission.urls[0]?.hasCapacity()) ofA.push(given(admission, 203, { owed: [A], isRetry: true }));
    // It waits for A alone from now on.
    expect([admission.overdue(203, () => SCARCE), admission.waiting]).toEqual([null, 1]);
    admission.urls[0]?.shutUntil(3_600_000);
    const permit = admission.overdue(204, () => SCARCE);
    expect(permit?.deferred).toEqual([{ urls: [A, B], cause: "concurrency_limit", notBeforeMs: null }]);
  });

  it("AD4: goes by another URL when the one that it waits for sends a `Retry-After`", () => {
    const admission = admissionOf([A, B]);
    const permits = Array.from({ length: 4 }, () => given(admission, 0));
    expect(arrive(admission, 0)).toBeNull();
    admission.urls[0]?.shutUntil(60_000);
    expect(admission.overdue(1, () => AMONG_OTHERS)).toBeNull();
    for (const permit of permits) finish(permit, "delivered", 2, B);
    expect(admission.next(2)?.lines.map(({ health }) => health.url)).toEqual([B]);
  });
});

describe("admission to several URLs under `settle: each`", () => {
  it("UC2, I5: leaves out and defers apart a URL with a `Retry-After` or an open breaker, and nothing else", () => {
    const admission = admissionOf([A, B], "each");
    admission.urls[1]?.shutUntil(60_000);
    const permit = given(admission, 0);
    expect(told(permit)).toEqual([A]);
    expect(permit.deferred).toEqual([{ urls: [B], cause: "retry_after", notBeforeMs: 60_000 }]);
    finish(permit, "delivered", 1, A);
    expect(arrive(admission, 1, AMONG_OTHERS, { owed: [A], isRetry: true })).toEqual([A]);
    expect(arrive(admission, 1, AMONG_OTHERS, { owed: [B], isRetry: true })).toEqual(["retry_after"]);
  });

  it("UC2: leaves a breaker's probe to a delivery that owes that URL alone", () => {
    const admission = admissionOf([A, B], "each");
    broken(admission, "failed", 0, B);
    const permit = given(admission, 1000);
    expect([told(permit), permit.deferred]).toMatchObject([[A], [{ urls: [B], cause: "breaker_open" }]]);
    const probe = given(admission, 1000, { owed: [B], isRetry: true });
    expect([told(probe), probe.wasProbe(0)]).toEqual([[B], true]);
  });

  it("UC2: does not wait for a URL that hangs, once that is seen, nor stand behind those that do", () => {
    const admission = admissionOf([A, B], "each");
    for (let index = 0; index < 4; index++) finish(given(admission, 0), "delivered", 1, A);
    expect(arrive(admission, 2)).toBeNull();
    expect(arrive(admission, 2, AMONG_OTHERS, { owed: [B], isRetry: true })).toBeNull();
    admission.passed(1501);
    const went = admission.next(1003);
    expect(went && told(went)).toEqual([A]);
    expect(went?.deferred).toMatchObject([{ urls: [B], cause: "concurrency_limit" }]);
    expect(arrive(admission, 1004)).toEqual([A]);
    expect(admission.waiting).toBe(1);
  });

  it("UC2: does not stand behind those that wait for a URL that is not sound, though it has capacity", () => {
    const admission = admissionOf([A, B], "each");
    finish(given(admission, 0, { owed: [B], isRetry: true }), "timed_out", 5000, B);
    admission.urls[1]?.shutUntil(5500);
    expect(arrive(admission, 5000, AMONG_OTHERS, { owed: [B], isRetry: true })).toBeNull();
    expect(arrive(admission, 5000)).toEqual([A]);
  });

  /** Uses up the capacity of a URL. */
  function fillUrl(admission: Admission, url: string, nowMs: number): readonly Given[] {
    const permits: Given[] = [];
    const health = admission.urls.find((each) => each.url === url);
    while (health?.hasCapacity()) permits.push(given(admission, nowMs, { owed: [url], isRetry: true }));
    return permits;
  }

  /** A URL that throttled, and then answered as slowly. */
  function slowed(admission: Admission, url: string, takesMs: number, nowMs: number): void {
    finish(given(admission, nowMs, { owed: [url], isRetry: true }), "throttled", nowMs + takesMs, url);
    finish(given(admission, nowMs + takesMs, { owed: [url], isRetry: true }), "failed", nowMs + 2 * takesMs, url);
  }

  it("AD4: leaves out only the URL that would be waited for too long", () => {
    const admission = admissionOf([A, B], "each");
    slowed(admission, A, 4000, 0);
    slowed(admission, B, 1000, 6000);
    fillUrl(admission, A, 9000);
    const permits = fillUrl(admission, B, 9000);
    // Nothing could go at once, so it waits for the first, up to ten seconds; and then for the other alone.
    for (let index = 0; index < 6; index++) expect(arrive(admission, 9000)).toBeNull();
    finish(permits[0] as Given, "delivered", 9500, B);
    const late = admission.next(9500);
    expect([late && told(late), late?.deferred]).toMatchObject([[B], [{ urls: [A], cause: "concurrency_limit" }]]);
  });

  it("UC2: goes at once to the URL that can take it, and does not wait for a late one", () => {
    const admission = admissionOf([A, B], "each");
    slowed(admission, B, 1000, 0);
    fillUrl(admission, B, 3000);
    const permit = given(admission, 3000);
    expect([told(permit), permit.deferred]).toMatchObject([[A], [{ urls: [B], cause: "concurrency_limit" }]]);
    expect(admission.waiting).toBe(0);
  });

  it("UC2: waits for a URL that will take it soon, and for whichever will where none can take it now", () => {
    const admission = admissionOf([A, B], "each");
    finish(given(admission, 0), "delivered", 5, A);
    const permits = fillUrl(admission, A, 10);
    expect(arrive(admission, 10)).toBeNull();
    finish(permits[0] as Given, "delivered", 15, A);
    expect(told(admission.next(15) as Given)).toEqual([A, B]);

    const other = admissionOf([A, B], "each");
    slowed(other, A, 1000, 0);
    fillUrl(other, A, 3000);
    const ofB = fillUrl(other, B, 3000);
    expect(arrive(other, 3000)).toBeNull();
    finish(ofB[0] as Given, "delivered", 3005, B);
    const went = other.next(3005);
    expect([went && told(went), went?.deferred]).toMatchObject([[B], [{ urls: [A], cause: "concurrency_limit" }]]);
  });

  it("UC2: leaves nothing out while all wait for the rate", () => {
    const admission = admissionOf([A, B], "each");
    for (const url of [A, B]) slowed(admission, url, 1000, 0);
    admission.setRate(10, 2000);
    expect(arrive(admission, 2000)).toEqual([A, B]);
    expect([arrive(admission, 2000), arrive(admission, 2000)]).toEqual([null, null]);
    expect(admission.overdue(2001, () => AMONG_OTHERS)).toBeNull();
    expect(admission.waiting).toBe(2);
    // There is a token, and the one before it waits for it too: A has capacity, and is left out by none.
    const next = admission.admit(one, 2200, () => AMONG_OTHERS);
    expect(next).toBeNull();
    expect(told(admission.next(2200) as Given)).toEqual([A, B]);
  });

  it("UC2: leaves out no late URL while the rate holds up the delivery anyway", () => {
    const admission = admissionOf([A, B], "each");
    slowed(admission, B, 1000, 0);
    const ofB = fillUrl(admission, B, 3000);
    admission.setRate(10, 3000);
    given(admission, 3000, { owed: [A], isRetry: true });
    expect(arrive(admission, 3000)).toBeNull();
    for (const permit of ofB) finish(permit, "delivered", 3010, B);
    const permit = admission.next(3100);
    expect([permit && told(permit), permit?.deferred]).toEqual([[A, B], []]);
  });

  it("UC2: goes on, from behind others that wait for it alone, when a URL begins to hang", () => {
    const admission = admissionOf([A, B], "each");
    finish(given(admission, 0, { owed: [B], isRetry: true }), "delivered", 5, B);
    fillUrl(admission, B, 10);
    const alone = { owed: [B], isRetry: false };
    expect([arrive(admission, 10, ALONE, alone), arrive(admission, 10), arrive(admission, 10)]).toEqual([
      null,
      null,
      null,
    ]);
    admission.passed(201);
    expect(admission.next(211)).toBeNull();
    const went = [admission.overdue(211, () => AMONG_OTHERS), admission.overdue(211, () => AMONG_OTHERS)];
    for (const permit of went) {
      expect([permit && told(permit), permit?.deferred]).toMatchObject([
        [A],
        [{ urls: [B], cause: "concurrency_limit" }],
      ]);
    }
    expect([admission.overdue(211, () => AMONG_OTHERS), admission.waiting]).toEqual([null, 1]);
  });

  it("UC2: answers the deliveries that were diverted and not yet decided on when the destination is changed", () => {
    const admission = admissionOf([A, B], "each");
    finish(given(admission, 0, { owed: [B], isRetry: true }), "delivered", 5, B);
    fillUrl(admission, B, 10);
    expect([arrive(admission, 10), arrive(admission, 10)]).toEqual([null, null]);
    admission.passed(201);
    expect(admission.overdue(211, () => AMONG_OTHERS)).not.toBeNull();
    expect(admission.configure([A], "each")).toEqual([one]);
    expect(admission.overdue(240, () => AMONG_OTHERS)).toBeNull();
  });

  it("is deferred as a whole, in one part, when nothing of it can go for one reason, and in several for several", () => {
    const admission = admissionOf([A, B], "each");
    for (const url of [A, B]) broken(admission, "failed", 0, url);
    expect(arrive(admission, 1)).toEqual(["breaker_open"]);
    admission.urls[1]?.shutUntil(60_000);
    expect(arrive(admission, 1)).toEqual(["breaker_open", "retry_after"]);
  });
});

describe("whatever happens", () => {
  const step = fc.record({
    what: fc.constantFrom("arrive", "arrive", "arrive", "last", "outcome", "outcome", "end", "wait", "serve", "shut"),
    owed: fc.constantFrom(null, null, [A], [B]),
    isRetry: fc.boolean(),
    pick: fc.nat(1000),
    outcome: fc.constantFrom<RequestOutcome>("delivered", "refused", "failed", "timed_out", "throttled"),
    passedMs: fc.nat(900),
    context: fc.constantFrom(AMONG_OTHERS, ALONE, CROWDING, SCARCE),
  });

  it.each(["any", "each"] as const)(
    "J1, settle %s: each URL that a delivery owes is called or deferred once, or waits",
    (settle) => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 200 }), fc.boolean(), (steps, hasRate) => {
          const shared = new ConnectionBudget(64);
          const admission = admissionOf([A, B], settle, shared);
          const unsettled: { permit: Given; index: number }[] = [];
          const runningOn: { permit: Given; index: number }[] = [];
          let nowMs = 0;
          if (hasRate) admission.setRate(50, 0);
          const counts = { arrived: 0, decided: 0 };
          const decide = (permit: Given): void => {
            counts.decided += 1;
            const { request, lines, deferred, isGiven } = permit;
            const deferredUrls = deferred.flatMap(({ urls }) => urls);
            const called = isGiven ? lines.map(({ health }) => health.url) : [];
            if (isGiven) unsettled.push(...lines.map((_, index) => ({ permit, index })));
            const seen = [...called, ...deferredUrls].sort();
            if (settle === "each" || !isGiven) expect(seen).toEqual(request.owed ?? [A, B]);
            else expect(called.length).toBeGreaterThan(0);
            expect(new Set(seen).size).toBe(seen.length);
          };
          for (const { what, owed, isRetry, pick, outcome, passedMs, context } of steps) {
            if (what === "arrive") {
              counts.arrived += 1;
              const permit = admission.admit({ owed, isRetry }, nowMs, () => context);
              if (permit !== null) decide(permit);
            }
            if (what === "last") {
              const permit = admission.admitLast({ owed, isRetry }, nowMs);
              if (permit !== "full") counts.arrived += 1;
              if (permit !== "full" && permit !== null) decide(permit);
            }
            if (what === "outcome" && unsettled.length > 0) {
              const [chosen] = unsettled.splice(pick % unsettled.length, 1);
              if (chosen !== undefined) {
                const { permit, index } = chosen;
                const begun = { startedMs: permit.startedMs, wasProbe: permit.wasProbe(index) };
                permit.lines[index]?.health.settled(outcome, begun, nowMs);
                runningOn.push(chosen);
              }
            }
            if (what === "end") {
              const ended = runningOn.shift();
              ended?.permit.lines[ended.index]?.health.ended();
            }
            if (what === "wait") {
              nowMs += passedMs;
              admission.passed(passedMs);
            }
            if (what === "shut") admission.urls[pick % 2]?.shutUntil(nowMs + passedMs * 2);
            if (what === "serve") {
              for (let next = admission.next(nowMs); next !== null; next = admission.next(nowMs)) decide(next);
              const late = () => admission.overdue(nowMs, () => context);
              for (let permit = late(); permit !== null; permit = late()) decide(permit);
            }
            expect(counts.decided + admission.waiting).toBe(counts.arrived);
            const out = admission.urls.reduce((sum, health) => sum + health.out, 0);
            expect([out, shared.out]).toEqual([unsettled.length + runningOn.length, out]);
          }
        }),
        { numRuns: 500 },
      );
    },
  );

  it.each(["any", "each"] as const)(
    "settle %s: what waits is served or deferred in the end, when every request ends",
    (settle) => {
      const arrival = fc.record({ owed: fc.constantFrom(null, [A], [B]), isRetry: fc.boolean() });
      const outcomes = fc.record({
        [A]: fc.constantFrom<RequestOutcome>("failed", "delivered", "timed_out"),
        [B]: fc.constantFrom<RequestOutcome>("failed", "delivered", "timed_out"),
      });
      fc.assert(
        fc.property(fc.array(arrival, { minLength: 1, maxLength: 100 }), outcomes, (arrivals, outcomeOf) => {
          const admission = admissionOf([A, B], settle);
          const out: { permit: Given; index: number }[] = [];
          const take = (permit: Given) => {
            if (permit.isGiven) out.push(...permit.lines.map((_, index) => ({ permit, index })));
          };
          let nowMs = 0;
          for (const request of arrivals) {
            const permit = admission.admit(request, nowMs, () => ALONE);
            if (permit !== null) take(permit);
          }
          for (let round = 0; round < 2000 && (admission.waiting > 0 || out.length > 0); round++) {
            nowMs += 50;
            const ended = out.shift();
            const health = ended?.permit.lines[ended.index]?.health;
            if (ended !== undefined && health !== undefined) {
              const begun = { startedMs: ended.permit.startedMs, wasProbe: ended.permit.wasProbe(ended.index) };
              health.settled(health.url === A ? outcomeOf[A] : outcomeOf[B], begun, nowMs);
              health.ended();
            }
            for (let next = admission.next(nowMs); next !== null; next = admission.next(nowMs)) take(next);
            const late = () => admission.overdue(nowMs, () => ALONE);
            for (let permit = late(); permit !== null; permit = late()) take(permit);
          }
          expect([admission.waiting, out.length, admission.isEmpty]).toEqual([0, 0, true]);
        }),
      );
    },
  );

  it.each(["any", "each"] as const)(
    "settle %s: a change of the URLs and a permit that is given back lose no delivery and leave no request counted",
    (settle) => {
      const anyStep = fc.record({
        what: fc.constantFrom("arrive", "arrive", "last", "outcome", "cancel", "change", "serve", "shut", "break"),
        owed: fc.constantFrom(null, null, [A], [B]),
        isRetry: fc.boolean(),
        pick: fc.nat(1000),
        outcome: fc.constantFrom<RequestOutcome>("delivered", "refused", "failed", "timed_out", "throttled"),
        urls: fc.constantFrom([A, B], [B, A], [A, B, "https://c.example/"]),
        passedMs: fc.nat(900),
      });
      fc.assert(
        fc.property(fc.array(anyStep, { maxLength: 200 }), fc.boolean(), (steps, hasRate) => {
          const shared = new ConnectionBudget(64);
          const admission = admissionOf([A, B], settle, shared);
          if (hasRate) admission.setRate(50, 0);
          const given: Given[] = [];
          const out: { permit: Given; index: number }[] = [];
          let [nowMs, arrived, decided] = [0, 0, 0];
          const decide = (permit: Given) => {
            decided += 1;
            if (permit.isGiven) given.push(permit);
          };
          const send = () => {
            for (const permit of given.splice(0)) out.push(...permit.lines.map((_, index) => ({ permit, index })));
          };
          const end = (outcome: RequestOutcome, at: number) => {
            const [chosen] = out.splice(at, 1);
            const health = chosen?.permit.lines[chosen.index]?.health;
            if (chosen === undefined || health === undefined) return;
            const { permit, index } = chosen;
            health.settled(outcome, { startedMs: permit.startedMs, wasProbe: permit.wasProbe(index) }, nowMs);
            health.ended();
          };
          const serve = () => {
            for (let next = admission.next(nowMs); next !== null; next = admission.next(nowMs)) decide(next);
            const late = () => admission.overdue(nowMs, () => AMONG_OTHERS);
            for (let permit = late(); permit !== null; permit = late()) decide(permit);
          };
          for (const { what, owed, isRetry, pick, outcome, urls, passedMs } of steps) {
            nowMs += passedMs / 10;
            if (what === "arrive") {
              arrived += 1;
              const permit = admission.admit({ owed, isRetry }, nowMs, () => AMONG_OTHERS);
              if (permit !== null) decide(permit);
            }
            if (what === "last") {
              const permit = admission.admitLast({ owed, isRetry }, nowMs);
              if (permit !== "full") arrived += 1;
              if (permit !== "full" && permit !== null) decide(permit);
            }
            if (what === "cancel") for (const permit of given.splice(0)) admission.cancelled(permit);
            if (what === "outcome") send();
            if (what === "outcome" && out.length > 0) end(outcome, pick % out.length);
            if (what === "shut") admission.urls[pick % 2]?.shutUntil(nowMs + passedMs * 2);
            const broken = what === "break" ? admission.urls[pick % 2] : undefined;
            for (let failures = 0; broken?.breakerState === "closed" && failures < 5; failures++) {
              const begun = { startedMs: nowMs, wasProbe: broken.take(nowMs) };
              broken.settled("failed", begun, nowMs);
              broken.ended();
            }
            if (broken !== undefined) nowMs += 1000;
            if (what === "change") arrived -= admission.configure(urls, settle).length;
            if (what === "serve") serve();
            expect(decided + admission.waiting).toBe(arrived);
            const unsent = given.reduce((sum, { lines }) => sum + lines.length, 0);
            expect(shared.out).toBe(out.length + unsent);
            expect(shared.unconfirmed).toBeGreaterThanOrEqual(0);
            expect(shared.unconfirmed).toBeLessThanOrEqual(shared.out);
          }
          send();
          for (let round = 0; round < 5000 && (out.length > 0 || admission.waiting > 0); round += 1) {
            nowMs += 20;
            end(steps.length % 2 === 0 ? "delivered" : "failed", 0);
            serve();
            send();
          }
          expect([admission.waiting, out.length, shared.out, shared.unconfirmed]).toEqual([0, 0, 0, 0]);
          // Every breaker that was open can be probed again.
          nowMs += 10_000;
          for (const { url } of admission.urls) {
            const permit = admission.admit({ owed: [url], isRetry: true }, nowMs, () => AMONG_OTHERS);
            expect(permit?.isGiven).toBe(true);
          }
        }),
        { numRuns: 500 },
      );
    },
  );
});

/** Rules: AD4 of admission.ts, UC1 and UC2 of url-choice.ts. */
import { describe, expect, it } from "vitest";
import {
  A,
  type Admission,
  ALONE,
  AMONG_OTHERS,
  admissionOf,
  arrive,
  B,
  broken,
  finish,
  type Given,
  given,
  one,
  reported,
  SCARCE,
} from "../../test/destination-admission.ts";

describe("admission to several URLs under `settle: any`", () => {
  it("UC1: calls all that are well, and what a slow one still owes does not hold up the next delivery", () => {
    const admission = admissionOf([A, B]);
    finish(given(admission, 0), "delivered", 1, B);
    for (let index = 0; index < 20; index++) {
      const permit = given(admission, 10 + index);
      expect(reported(permit)).toEqual([A, B]);
      finish(permit, "delivered", 10 + index, A);
    }
  });

  it("I5: leaves out a URL that stalls, is open or sent a `Retry-After`, and probes it beside the other", () => {
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
    expect([reported(probing), probing.wasProbe(0), probing.wasProbe(1)]).toEqual([[A, B], false, true]);
    expect(arrive(other, 1001)).toEqual([A]);
    other.urls[0]?.shutUntil(9000);
    const permit = other.admit(one, 1002, () => AMONG_OTHERS);
    expect(permit?.deferred).toMatchObject([{ urls: [A, B], cause: "breaker_open", notBeforeMs: null }]);
  });

  it("UC1: waits for capacity of the URL that works, and goes not alone to one that timed out last", () => {
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

  it("UC1, I5: goes to the well URL alone where a window fills and another is waited for no longer", () => {
    const waited = waitingForB();
    const permit = waited.overdue(203, () => SCARCE);
    expect([permit && reported(permit), permit?.isGiven, waited.waiting]).toEqual([[A], true, 0]);
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

  it("UC1: is deferred for all of its URLs, without a moment, when the last sends a `Retry-After` too", () => {
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
    expect(reported(permit)).toEqual([A]);
    expect(permit.deferred).toEqual([{ urls: [B], cause: "retry_after", notBeforeMs: 60_000 }]);
    finish(permit, "delivered", 1, A);
    expect(arrive(admission, 1, AMONG_OTHERS, { owed: [A], isRetry: true })).toEqual([A]);
    expect(arrive(admission, 1, AMONG_OTHERS, { owed: [B], isRetry: true })).toEqual(["retry_after"]);
  });

  it("UC2: leaves a breaker's probe to a delivery that owes that URL alone", () => {
    const admission = admissionOf([A, B], "each");
    broken(admission, "failed", 0, B);
    const permit = given(admission, 1000);
    expect([reported(permit), permit.deferred]).toMatchObject([[A], [{ urls: [B], cause: "breaker_open" }]]);
    const probe = given(admission, 1000, { owed: [B], isRetry: true });
    expect([reported(probe), probe.wasProbe(0)]).toEqual([[B], true]);
  });

  it("UC2: does not wait for a URL that hangs, once that is seen, nor stand behind those that do", () => {
    const admission = admissionOf([A, B], "each");
    for (let index = 0; index < 4; index++) finish(given(admission, 0), "delivered", 1, A);
    expect(arrive(admission, 2)).toBeNull();
    expect(arrive(admission, 2, AMONG_OTHERS, { owed: [B], isRetry: true })).toBeNull();
    admission.passed(1501);
    const went = admission.next(1003);
    expect(went && reported(went)).toEqual([A]);
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
    expect([late && reported(late), late?.deferred]).toMatchObject([[B], [{ urls: [A], cause: "concurrency_limit" }]]);
  });

  it("UC2: goes at once to the URL that can take it, and does not wait for a late one", () => {
    const admission = admissionOf([A, B], "each");
    slowed(admission, B, 1000, 0);
    fillUrl(admission, B, 3000);
    const permit = given(admission, 3000);
    expect([reported(permit), permit.deferred]).toMatchObject([[A], [{ urls: [B], cause: "concurrency_limit" }]]);
    expect(admission.waiting).toBe(0);
  });

  it("UC2: waits for a URL that will take it soon, and for whichever will where none can take it now", () => {
    const admission = admissionOf([A, B], "each");
    finish(given(admission, 0), "delivered", 5, A);
    const permits = fillUrl(admission, A, 10);
    expect(arrive(admission, 10)).toBeNull();
    finish(permits[0] as Given, "delivered", 15, A);
    expect(reported(admission.next(15) as Given)).toEqual([A, B]);

    const other = admissionOf([A, B], "each");
    slowed(other, A, 1000, 0);
    fillUrl(other, A, 3000);
    const ofB = fillUrl(other, B, 3000);
    expect(arrive(other, 3000)).toBeNull();
    finish(ofB[0] as Given, "delivered", 3005, B);
    const went = other.next(3005);
    expect([went && reported(went), went?.deferred]).toMatchObject([[B], [{ urls: [A], cause: "concurrency_limit" }]]);
  });

  it("UC2: leaves nothing out while all wait for the rate", () => {
    const admission = admissionOf([A, B], "each");
    for (const url of [A, B]) slowed(admission, url, 1000, 0);
    admission.setRate(10, 2000);
    expect(arrive(admission, 2000)).toEqual([A, B]);
    expect([arrive(admission, 2000), arrive(admission, 2000)]).toEqual([null, null]);
    expect(admission.overdue(2001, () => AMONG_OTHERS)).toBeNull();
    expect(admission.waiting).toBe(2);
    // There is a token, and the one before it waits for it too: A has capacity, and is skipped by none.
    const next = admission.admit(one, 2200, () => AMONG_OTHERS);
    expect(next).toBeNull();
    expect(reported(admission.next(2200) as Given)).toEqual([A, B]);
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
    expect([permit && reported(permit), permit?.deferred]).toEqual([[A, B], []]);
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
      expect([permit && reported(permit), permit?.deferred]).toMatchObject([
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

  it("is deferred in one part when nothing of it can go for one reason, and in several for several", () => {
    const admission = admissionOf([A, B], "each");
    for (const url of [A, B]) broken(admission, "failed", 0, url);
    expect(arrive(admission, 1)).toEqual(["breaker_open"]);
    admission.urls[1]?.shutUntil(60_000);
    expect(arrive(admission, 1)).toEqual(["breaker_open", "retry_after"]);
  });
});

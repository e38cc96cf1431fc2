/** Rules: AD1 to AD4 of admission.ts, for deliveries that wait in several queues and for a rate. */
import { describe, expect, it } from "vitest";
import {
  A,
  type Admission,
  ALONE,
  AMONG_OTHERS,
  admissionOf,
  arrive,
  B,
  FILLING,
  finish,
  type Given,
  given,
  one,
  reported,
} from "../../test/destination-admission.ts";

const ofA = { owed: [A], isRetry: false };
const ofB = { owed: [B], isRetry: false };

/** Uses up the capacity of a URL; returns the permits given for it. */
function fillUrl(admission: Admission, url: string, nowMs: number): readonly Given[] {
  const permits: Given[] = [];
  const health = admission.urls.find((each) => each.url === url);
  while (health?.hasCapacity()) permits.push(given(admission, nowMs, { owed: [url], isRetry: true }));
  return permits;
}

function endAll(permits: readonly Given[], nowMs: number): void {
  for (const permit of permits) {
    for (const { health } of permit.lines) finish(permit, "delivered", nowMs, health.url);
  }
}

/**
 * How many deliveries wait for a rate of one a second before one would wait for ten seconds: as many as there are
 * seconds, less those that are counted already. Nothing waits when it is asked, and nothing stands against the URL.
 */
function roomUnderRate(admission: Admission, nowMs: number): number {
  admission.setRate(1, nowMs);
  expect(admission.waiting).toBe(0);
  expect(arrive(admission, nowMs, AMONG_OTHERS, ofA)).toEqual([A]);
  let waits = 0;
  while (waits < 30 && arrive(admission, nowMs, AMONG_OTHERS, ofA) === null) waits += 1;
  return waits;
}

describe("AD2: the expected wait for the rate", () => {
  it("counts each request that waits, and defers what would wait for ten seconds", () => {
    expect(roomUnderRate(admissionOf(), 0)).toBe(10);
  });

  it("counts the last attempts that wait beside the others", () => {
    const admission = admissionOf();
    admission.setRate(1, 0);
    expect(arrive(admission, 0)).toEqual([A]);
    for (let index = 0; index < 4; index += 1) expect(admission.admitLast(one, 0)).toBeNull();
    let waits = 0;
    while (waits < 30 && arrive(admission, 0) === null) waits += 1;
    expect(waits).toBe(6);
  });

  it("does not count what waited and went", () => {
    const admission = admissionOf();
    let permits = fillUrl(admission, A, 0);
    for (let index = 0; index < 3; index += 1) expect(arrive(admission, 0, ALONE)).toBeNull();
    for (let nowMs = 1; admission.waiting > 0; nowMs += 1) {
      endAll(permits, nowMs);
      const next = admission.next(nowMs);
      permits = next === null ? [] : [next];
    }
    endAll(permits, 10);
    expect(roomUnderRate(admission, 10)).toBe(10);
  });

  it("does not count what waited and was deferred", () => {
    const admission = admissionOf();
    endAll([given(admission, 0)], 1);
    const permits = fillUrl(admission, A, 1);
    for (let index = 0; index < 4; index += 1) expect(arrive(admission, 1, ALONE)).toBeNull();
    admission.urls[0]?.shutUntil(60_000);
    for (let index = 0; index < 4; index += 1) {
      const refused = admission.overdue(2, () => ALONE);
      expect(refused && reported(refused)).toEqual(["retry_after"]);
    }
    endAll(permits, 3);
    expect(roomUnderRate(admission, 60_000)).toBe(10);
  });

  it("does not count what was taken out of a late URL's queue, nor twice what then waits for another", () => {
    const admission = admissionOf([A, B], "each");
    finish(given(admission, 0, ofB), "delivered", 5, B);
    const permits = fillUrl(admission, B, 10);
    for (let index = 0; index < 3; index += 1) expect(arrive(admission, 10)).toBeNull();
    admission.passed(201);
    for (let decided = admission.overdue(211, () => AMONG_OTHERS); decided !== null; ) {
      expect(reported(decided)).toEqual([A]);
      endAll([decided], 212);
      decided = admission.overdue(212, () => AMONG_OTHERS);
    }
    endAll(permits, 213);
    expect(roomUnderRate(admission, 300)).toBe(10);
  });

  it("does not count what the change of a destination gave back", () => {
    const admission = admissionOf();
    const permits = fillUrl(admission, A, 0);
    for (let index = 0; index < 4; index += 1) expect(arrive(admission, 0, ALONE)).toBeNull();
    expect(admission.configure([A], "any")).toHaveLength(4);
    endAll(permits, 1);
    expect(roomUnderRate(admission, 1)).toBe(10);
  });
});

describe("AD1: what waits for several URLs", () => {
  it("is asked for one URL after the other, so that none's queue waits for another's to be empty", () => {
    const admission = admissionOf([A, B], "each");
    admission.setRate(1, 0);
    endAll([given(admission, 0, ofA)], 0);
    for (let index = 0; index < 3; index += 1) {
      expect(arrive(admission, 0, ALONE, ofA)).toBeNull();
      expect(arrive(admission, 0, ALONE, ofB)).toBeNull();
    }
    const went = [1, 2, 3, 4, 5, 6].map((second) => {
      const next = admission.next(second * 1_000);
      expect(admission.next(second * 1_000)).toBeNull();
      return next?.lines.map(({ health }) => health.url);
    });
    expect(went).toEqual([[A], [B], [A], [B], [A], [B]]);
  });

  it("waits for the next of its URLs when the one that it waited for could take it, and goes once", () => {
    const admission = admissionOf([A, B], "each");
    endAll([given(admission, 0)], 5);
    const [permitsOfA, permitsOfB] = [fillUrl(admission, A, 10), fillUrl(admission, B, 10)];
    expect(arrive(admission, 10)).toBeNull();
    endAll(permitsOfA, 15);
    expect([admission.next(15), admission.waiting]).toEqual([null, 1]);
    endAll(permitsOfB, 20);
    const went = admission.next(20);
    expect(went && reported(went)).toEqual([A, B]);
    expect([admission.next(20), admission.waiting]).toEqual([null, 0]);
    if (went !== null) endAll([went], 21);
    expect(roomUnderRate(admission, 21)).toBe(10);
  });

  it("owes each URL until it is called or deferred, also one that would be waited for too long (settle: each)", () => {
    const admission = admissionOf([A, B], "each");
    const slow = (url: string, takesMs: number, nowMs: number): void => {
      const owed = { owed: [url], isRetry: true };
      finish(given(admission, nowMs, owed), "throttled", nowMs + takesMs, url);
      finish(given(admission, nowMs + takesMs, owed), "failed", nowMs + 2 * takesMs, url);
    };
    slow(A, 4000, 0);
    slow(B, 1000, 6000);
    fillUrl(admission, A, 9000);
    const busy = [...fillUrl(admission, B, 9000)];
    const decided: Given[] = [];
    for (let index = 0; index < 12; index += 1) {
      const permit = admission.admit(one, 9000, () => AMONG_OTHERS);
      if (permit !== null) decided.push(permit);
    }
    for (let nowMs = 9500; nowMs < 60_000 && admission.waiting > 0; nowMs += 500) {
      for (const permit of busy.splice(0, 1)) endAll([permit], nowMs);
      for (let permit = admission.next(nowMs); permit !== null; permit = admission.next(nowMs)) {
        decided.push(permit);
        if (permit.isGiven && permit.lines.every(({ health }) => health.url === B)) busy.push(permit);
      }
    }
    expect(admission.waiting).toBe(0);
    expect(decided).toHaveLength(12);
    for (const permit of decided) {
      const called = permit.lines.map(({ health }) => health.url);
      const deferred = permit.deferred.flatMap(({ urls }) => urls);
      expect([...called, ...deferred].sort()).toEqual([A, B]);
    }
  });
});

describe("a destination of two URLs", () => {
  it("AD3: is served in a window that fills while one of its URLs answers, whichever", () => {
    for (const hanging of [A, B]) {
      const admission = admissionOf([A, B], "each");
      given(admission, 0, { owed: [hanging], isRetry: true });
      admission.passed(1501);
      expect(admission.deferralOnArrival(FILLING)).toBeNull();
    }
    const admission = admissionOf([A, B], "each");
    given(admission, 0);
    admission.passed(1501);
    expect(admission.deferralOnArrival(FILLING)).toBe("concurrency_limit");
  });

  it("keeps count of what is out to a URL that it keeps when it is changed", () => {
    const admission = admissionOf();
    const permits = fillUrl(admission, A, 0);
    admission.configure([A, B], "each");
    expect(admission.urls.map(({ out }) => out)).toEqual([permits.length, 0]);
    endAll(permits, 1);
    expect(admission.urls.map(({ out }) => out)).toEqual([0, 0]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_RETRY_DELAYS_MS } from "./backoff.ts";
import { type DeliveryProgress, NO_PROGRESS } from "./delivery.ts";
import { isWindowOver, planHold, planPutOff, planRetry, type RetrySchedule } from "./retry-plan.ts";

const HOUR = 3_600_000;
const schedule: RetrySchedule = { delaysMs: DEFAULT_RETRY_DELAYS_MS, windowMs: 4 * HOUR };
const anySchedule: fc.Arbitrary<RetrySchedule> = fc.record({
  delaysMs: fc.array(fc.integer({ min: 1000, max: 2 * HOUR }), { minLength: 1, maxLength: 10 }),
  windowMs: fc.integer({ min: 1, max: 6 * HOUR }),
});
const failed = (progress: DeliveryProgress, nowMs: number, notBeforeMs: number | null = null) =>
  planRetry({ schedule, progress, nowMs, notBeforeMs, urls: null });
const putOff = (progress: DeliveryProgress, nowMs: number, waiting = 0, notBeforeMs: number | null = null) =>
  planPutOff({ schedule, progress, nowMs, notBeforeMs, waiting });

describe("after a failed attempt", () => {
  it("waits by the schedule, then is a dead letter: window_expired", () => {
    const delays: number[] = [];
    let progress = NO_PROGRESS;
    let nowMs = 1_000_000;
    for (;;) {
      const plan = failed(progress, nowMs);
      progress = plan.progress;
      if (plan.kind === "dead_letter") {
        expect(plan.reason).toBe("window_expired");
        break;
      }
      delays.push(plan.delayMs);
      nowMs += plan.delayMs;
    }
    expect(delays).toEqual(DEFAULT_RETRY_DELAYS_MS);
    expect(progress).toMatchObject({ attempts: 10, windowStartMs: 1_000_000, deadlineMs: 1_000_000 + 4 * HOUR });
  });

  it("I3: the window starts with the first failure and never moves", () => {
    const first = failed(NO_PROGRESS, 5000).progress;
    expect(failed(first, 20_000).progress).toMatchObject({ windowStartMs: 5000, deadlineMs: 5000 + 4 * HOUR });
  });

  it("takes no delay that would pass the end of the window", () => {
    const progress = { ...NO_PROGRESS, attempts: 6, windowStartMs: 0, deadlineMs: 4 * HOUR };
    expect(failed(progress, 3 * HOUR)).toMatchObject({ kind: "retry", delayMs: HOUR });
    expect(failed(progress, 3 * HOUR + 1)).toMatchObject({ kind: "dead_letter", reason: "window_expired" });
  });

  it("keeps the URLs that are left, under `settle: each`", () => {
    const plan = planRetry({ schedule, progress: NO_PROGRESS, nowMs: 0, notBeforeMs: null, urls: ["https://a.test/"] });
    expect(plan.progress.urls).toEqual(["https://a.test/"]);
  });

  it("W5: a Retry-After within the delay changes nothing", () => {
    expect(failed(NO_PROGRESS, 0, 10_000)).toMatchObject({ delayMs: 10_000, progress: { notBeforeMs: null } });
  });

  it("W5: a longer Retry-After takes the largest tier that does not overshoot", () => {
    expect(failed(NO_PROGRESS, 0, 65_000)).toMatchObject({ delayMs: 60_000, progress: { notBeforeMs: 65_000 } });
    expect(failed(NO_PROGRESS, 0, 11_000)).toMatchObject({ delayMs: 10_000, progress: { notBeforeMs: 11_000 } });
  });
});

describe("put off without an attempt", () => {
  it("I3: starts the window and counts apart from attempts", () => {
    expect(putOff(NO_PROGRESS, 7)).toEqual({
      kind: "retry",
      delayMs: 10_000,
      progress: { ...NO_PROGRESS, putOffs: 1, windowStartMs: 7, deadlineMs: 7 + 4 * HOUR },
    });
  });

  it("I2: uses tiers up to five minutes while few wait, and longer ones when very many do", () => {
    const progress = { ...NO_PROGRESS, putOffs: 50, windowStartMs: 0, deadlineMs: 4 * HOUR };
    expect(putOff(progress, 0, 99_999)).toMatchObject({ delayMs: 300_000 });
    expect(putOff(progress, 0, 100_000)).toMatchObject({ delayMs: HOUR });
  });

  it("takes the longest tier that still ends within the window", () => {
    const progress = { ...NO_PROGRESS, putOffs: 50, windowStartMs: 0, deadlineMs: 45_000 };
    expect(putOff(progress, 0)).toMatchObject({ delayMs: 30_000 });
  });

  it("I3: at the end of the window one attempt is made of what was never attempted, the rest is dead", () => {
    const never = { ...NO_PROGRESS, putOffs: 3, windowStartMs: 0, deadlineMs: 4 * HOUR };
    expect(putOff(never, 4 * HOUR - 9999)).toEqual({ kind: "last_attempt" });
    expect(putOff({ ...never, attempts: 1 }, 4 * HOUR - 9999)).toMatchObject({
      kind: "dead_letter",
      reason: "window_expired",
    });
  });
});

describe("whatever the schedule and the moments", () => {
  const progress = fc.record({ attempts: fc.nat(12), putOffs: fc.nat(50), age: fc.option(fc.nat(5 * HOUR)) });
  const retryAfter = fc.option(fc.nat(10 * HOUR), { nil: null });

  it("a wait is always one of the tiers and ends within the window", () => {
    fc.assert(
      fc.property(
        anySchedule,
        progress,
        retryAfter,
        fc.nat(200_000),
        (any, { attempts, putOffs, age }, after, waiting) => {
          const nowMs = 1e12;
          const start = age === null ? null : nowMs - age;
          const before: DeliveryProgress = {
            ...NO_PROGRESS,
            attempts,
            putOffs,
            windowStartMs: start,
            deadlineMs: start === null ? null : start + any.windowMs,
          };
          const notBeforeMs = after === null ? null : nowMs + after;
          const plans = [
            planRetry({ schedule: any, progress: before, nowMs, notBeforeMs, urls: null }),
            planPutOff({ schedule: any, progress: before, nowMs, notBeforeMs, waiting }),
          ];
          for (const plan of plans) {
            if (plan.kind !== "retry") continue;
            expect(any.delaysMs).toContain(plan.delayMs);
            expect(nowMs + plan.delayMs).toBeLessThanOrEqual((start ?? nowMs) + any.windowMs);
          }
        },
      ),
    );
  });

  it("W5: a chain of waits for a Retry-After ends with an attempt, not before the moment asked for, in the window", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 * HOUR }), (afterMs) => {
        let nowMs = 0;
        let plan = failed(NO_PROGRESS, nowMs, afterMs);
        for (let step = 0; step < 60; step++) {
          if (plan.kind === "dead_letter") throw new Error("dead before it was tried again");
          nowMs += plan.delayMs;
          const { progress: waited } = plan;
          if (waited.notBeforeMs === null || waited.notBeforeMs <= nowMs) break;
          const next = putOff(waited, nowMs);
          if (next.kind === "last_attempt") throw new Error("it was attempted before");
          plan = next;
        }
        expect(nowMs).toBeGreaterThanOrEqual(Math.min(afterMs, 4 * HOUR - 10_000));
        expect(nowMs).toBeLessThanOrEqual(4 * HOUR);
      }),
    );
  });

  it("I3: a destination that stays dead is given up within the window, after one attempt at least", () => {
    fc.assert(
      fc.property(anySchedule, fc.nat(200_000), (any, waiting) => {
        let nowMs = 0;
        let progress = NO_PROGRESS;
        for (let step = 0; step < 100_000; step++) {
          const plan = planPutOff({ schedule: any, progress, nowMs, notBeforeMs: null, waiting });
          if (plan.kind === "last_attempt") {
            expect(nowMs).toBeLessThanOrEqual(any.windowMs);
            return;
          }
          if (plan.kind === "dead_letter") throw new Error("given up without an attempt");
          nowMs += plan.delayMs;
          progress = plan.progress;
        }
        throw new Error("never given up");
      }),
      { numRuns: 50 },
    );
  });
});

describe("held for the operator", () => {
  it("neither starts nor ends the window, however long it takes", () => {
    let progress: DeliveryProgress = NO_PROGRESS;
    const delays: number[] = [];
    for (let step = 0; step < 6; step++) {
      const plan = planHold({ schedule, progress });
      delays.push(plan.delayMs);
      progress = plan.progress;
    }
    expect(delays).toEqual([10_000, 30_000, 60_000, 300_000, 300_000, 300_000]);
    expect(progress).toEqual({ ...NO_PROGRESS, putOffs: 6 });
  });
});

it("the window is over from its deadline on, and never before it started", () => {
  expect(isWindowOver(NO_PROGRESS, 1e15)).toBe(false);
  expect(isWindowOver({ ...NO_PROGRESS, deadlineMs: 10 }, 9)).toBe(false);
  expect(isWindowOver({ ...NO_PROGRESS, deadlineMs: 10 }, 10)).toBe(true);
});

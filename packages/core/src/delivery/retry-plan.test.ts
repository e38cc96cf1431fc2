import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_RETRY_DELAYS_MS, jitterMs } from "./backoff.ts";
import { type DeliveryProgress, NO_PROGRESS } from "./delivery.ts";
import {
  isWindowOver,
  planAdmissionHold,
  planDeferral,
  planHold,
  planRetry,
  type RetrySchedule,
} from "./retry-plan.ts";

const HOUR = 3_600_000;
const schedule: RetrySchedule = { delaysMs: DEFAULT_RETRY_DELAYS_MS, windowMs: 4 * HOUR };
const anySchedule: fc.Arbitrary<RetrySchedule> = fc.record({
  delaysMs: fc.array(fc.integer({ min: 1000, max: 2 * HOUR }), { minLength: 1, maxLength: 10 }),
  windowMs: fc.integer({ min: 1, max: 6 * HOUR }),
});
const failed = (progress: DeliveryProgress, nowMs: number, notBeforeMs: number | null = null) =>
  planRetry({ schedule, progress, nowMs, notBeforeMs, urls: null });
const defer = (progress: DeliveryProgress, nowMs: number, waiting = 0, notBeforeMs: number | null = null) =>
  planDeferral({ schedule, progress, nowMs, notBeforeMs, waiting });

interface Situation {
  readonly schedule: RetrySchedule;
  /** `Retry-After` of each failed attempt's answer, in ms. */
  readonly afterMs: number;
  /** Records come this much later than they are due. */
  readonly latenessMs: number;
  readonly random: () => number;
}

/**
 * A delivery's way over simulated time, from its first attempt at 0: when it was attempted, and why it was given up.
 */
function simulate({ schedule: terms, afterMs, latenessMs, random }: Situation) {
  const attemptsMs: number[] = [];
  let nowMs = 0;
  let progress: DeliveryProgress = NO_PROGRESS;
  let shutUntilMs = 0;
  let isLast = false;
  for (let step = 0; step < 100_000; step++) {
    const isAwaited = progress.notBeforeMs !== null && progress.notBeforeMs > nowMs;
    const mustWait: boolean = !isLast && (isWindowOver(progress, nowMs) || isAwaited || shutUntilMs > nowMs);
    const gate = isAwaited ? null : shutUntilMs;
    const plan: ReturnType<typeof planDeferral> = mustWait
      ? planDeferral({ schedule: terms, progress, nowMs, notBeforeMs: gate, waiting: 0 })
      : planRetry({ schedule: terms, progress, nowMs, notBeforeMs: nowMs + afterMs, urls: null });
    if (!mustWait) {
      attemptsMs.push(nowMs);
      // As the deliverer shuts the gate.
      shutUntilMs = nowMs + Math.min(afterMs, terms.windowMs);
    }
    isLast = plan.kind === "last_attempt";
    if (plan.kind === "last_attempt") continue;
    if (plan.kind === "dead_letter") return { attemptsMs, reason: plan.reason };
    progress = plan.progress;
    const dueMs = nowMs + plan.delayMs + latenessMs;
    nowMs = dueMs + jitterMs({ delayMs: plan.delayMs, delaysMs: terms.delaysMs, fill: 0 }, random());
  }
  throw new Error("it is never given up");
}

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

describe("W5: a receiver that asked for peace", () => {
  const begun = { ...NO_PROGRESS, attempts: 1, windowStartMs: 0, deadlineMs: 4 * HOUR };

  it("is waited for in the largest tier that does not overshoot, the later of two moments counting", () => {
    const asked = { ...begun, notBeforeMs: 65_000 };
    const waits = { kind: "retry", delayMs: 60_000, progress: { notBeforeMs: 65_000, deferrals: 1 } };
    expect(defer(asked, 0)).toMatchObject(waits);
    expect(defer(asked, 0, 0, 20_000)).toMatchObject(waits);
    expect(defer({ ...begun, notBeforeMs: 20_000 }, 0, 0, 65_000)).toMatchObject(waits);
    expect(defer(begun, 0, 0, 65_000)).toMatchObject(waits);
    expect(defer({ ...begun, notBeforeMs: 1_065_000 }, 1_000_000)).toMatchObject({ delayMs: 60_000 });
    // Less than the smallest tier is left: there is none smaller.
    expect(defer({ ...begun, notBeforeMs: 3000 }, 0)).toMatchObject({ delayMs: 10_000 });
  });

  it("is waited for no more once its moment came", () => {
    const asked = { ...begun, notBeforeMs: 65_000 };
    expect(defer(asked, 65_000)).toMatchObject({ delayMs: 10_000, progress: { notBeforeMs: null } });
    expect(defer({ ...asked, deferrals: 2 }, 70_000, 0, 69_000)).toMatchObject({ delayMs: 60_000 });
  });

  it("whose gate is shut beyond the window's end is waited for till a smallest tier before it", () => {
    const lastTryMs = 4 * HOUR - 10_000;
    const owed = { ...begun, notBeforeMs: lastTryMs };
    expect(defer(begun, lastTryMs - 59_999, 0, 9 * HOUR)).toEqual({
      kind: "retry",
      delayMs: 30_000,
      progress: { ...owed, deferrals: 1 },
    });
    expect(defer(begun, lastTryMs - 10_000, 0, lastTryMs)).toMatchObject({ kind: "retry", delayMs: 10_000 });
    expect(defer(begun, lastTryMs - 9999, 0, lastTryMs)).toEqual({ kind: "last_attempt", progress: owed });
    // A moment before that is waited for to its end, by a tier that overshoots it.
    expect(defer(begun, lastTryMs - 9999, 0, lastTryMs - 1)).toMatchObject({ kind: "retry", delayMs: 10_000 });
  });

  it("that outwaits the window a second time is given up, and one that asks for less then is waited for", () => {
    const lastTryMs = 4 * HOUR - 10_000;
    const owed = { ...begun, notBeforeMs: lastTryMs };
    expect(failed(owed, 1000, 9 * HOUR)).toMatchObject({ kind: "dead_letter", reason: "window_expired" });
    expect(failed(owed, 1000, lastTryMs)).toMatchObject({ kind: "dead_letter", reason: "window_expired" });
    expect(failed(owed, 1000, lastTryMs - 1)).toMatchObject({
      kind: "retry",
      progress: { notBeforeMs: lastTryMs - 1 },
    });
    expect(failed(begun, 1000, 9 * HOUR)).toMatchObject({ kind: "retry", progress: { notBeforeMs: lastTryMs } });
  });
});

describe("a schedule whose delays do not grow", () => {
  const uneven: RetrySchedule = { delaysMs: [60_000, 10_000, 60_000, 30_000], windowMs: 4 * HOUR };
  const waitOf = (terms: RetrySchedule, deferrals: number, notBeforeMs: number | null = null) => {
    const progress = { ...NO_PROGRESS, deferrals };
    return planDeferral({ schedule: terms, progress, nowMs: 0, notBeforeMs, waiting: 0 });
  };

  it("has its tiers used in the order of their length", () => {
    expect([0, 1, 2, 3].map((deferrals) => waitOf(uneven, deferrals))).toMatchObject(
      [10_000, 30_000, 60_000, 60_000].map((delayMs) => ({ delayMs })),
    );
    expect(waitOf(uneven, 0, 59_000)).toMatchObject({ delayMs: 30_000 });
  });

  it("and has none of five minutes or less is deferred by its smallest alone", () => {
    const slow: RetrySchedule = { delaysMs: [1_800_000, 600_000, 3_600_000], windowMs: 24 * HOUR };
    expect([0, 1, 5].map((deferrals) => waitOf(slow, deferrals))).toMatchObject(
      [600_000, 600_000, 600_000].map((delayMs) => ({ delayMs })),
    );
  });
});

describe("deferred without an attempt", () => {
  it("I3: starts the window and counts apart from attempts", () => {
    expect(defer(NO_PROGRESS, 7)).toEqual({
      kind: "retry",
      delayMs: 10_000,
      progress: { ...NO_PROGRESS, deferrals: 1, windowStartMs: 7, deadlineMs: 7 + 4 * HOUR },
    });
  });

  it("I2: uses tiers up to five minutes while few wait, and longer ones when very many do", () => {
    const progress = { ...NO_PROGRESS, deferrals: 50, windowStartMs: 0, deadlineMs: 4 * HOUR };
    expect(defer(progress, 0, 99_999)).toMatchObject({ delayMs: 300_000 });
    expect(defer(progress, 0, 100_000)).toMatchObject({ delayMs: HOUR });
  });

  it("takes the longest tier that still ends within the window", () => {
    const progress = { ...NO_PROGRESS, deferrals: 50, windowStartMs: 0, deadlineMs: 45_000 };
    expect(defer(progress, 0)).toMatchObject({ delayMs: 30_000 });
  });

  it("I3: at the end of the window one attempt is made of what was never attempted, the rest is dead", () => {
    const never = { ...NO_PROGRESS, deferrals: 3, windowStartMs: 0, deadlineMs: 4 * HOUR };
    expect(defer(never, 4 * HOUR - 9999)).toEqual({ kind: "last_attempt", progress: never });
    expect(defer({ ...never, attempts: 1 }, 4 * HOUR - 9999)).toMatchObject({
      kind: "dead_letter",
      reason: "window_expired",
    });
  });
});

describe("whatever the schedule and the moments", () => {
  const progress = fc.record({ attempts: fc.nat(12), deferrals: fc.nat(50), age: fc.option(fc.nat(5 * HOUR)) });
  const retryAfter = fc.option(fc.nat(10 * HOUR), { nil: null });

  it("a wait is always one of the tiers and ends within the window", () => {
    fc.assert(
      fc.property(
        anySchedule,
        progress,
        retryAfter,
        fc.nat(200_000),
        (any, { attempts, deferrals, age }, after, waiting) => {
          const nowMs = 1e12;
          const start = age === null ? null : nowMs - age;
          const before: DeliveryProgress = {
            ...NO_PROGRESS,
            attempts,
            deferrals,
            windowStartMs: start,
            deadlineMs: start === null ? null : start + any.windowMs,
          };
          const notBeforeMs = after === null ? null : nowMs + after;
          const plans = [
            planRetry({ schedule: any, progress: before, nowMs, notBeforeMs, urls: null }),
            planDeferral({ schedule: any, progress: before, nowMs, notBeforeMs, waiting }),
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

  it("W5: a chain of waits for a Retry-After ends with an attempt in the window, not before its moment", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 * HOUR }), (afterMs) => {
        let nowMs = 0;
        let plan = failed(NO_PROGRESS, nowMs, afterMs);
        for (let step = 0; step < 60; step++) {
          if (plan.kind === "dead_letter") throw new Error("dead before it was tried again");
          nowMs += plan.delayMs;
          const { progress: waited } = plan;
          if (waited.notBeforeMs === null || waited.notBeforeMs <= nowMs) break;
          const next = defer(waited, nowMs);
          if (next.kind === "last_attempt") throw new Error("it was attempted before");
          plan = next;
        }
        expect(nowMs).toBeGreaterThanOrEqual(Math.min(afterMs, 4 * HOUR - 10_000));
        expect(nowMs).toBeLessThanOrEqual(4 * HOUR);
      }),
    );
  });

  it("W5: a receiver that asks for longer than the window is tried once more, before its end, and then no more", () => {
    const situation = fc.record({
      schedule: fc.oneof(fc.constant(schedule), anySchedule),
      /** How far beyond the window's end the receiver asks, which shuts its gate for all its deliveries. */
      beyondMs: fc.integer({ min: -20_000, max: 10 * HOUR }),
      latenessMs: fc.integer({ min: 1, max: 50 }),
      randoms: fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
    });
    fc.assert(
      fc.property(situation, ({ schedule: any, beyondMs, latenessMs, randoms }) => {
        const afterMs = Math.max(0, any.windowMs + beyondMs);
        const [firstMs = 0] = any.delaysMs;
        const smallestMs = Math.min(...any.delaysMs);
        // An attempt is only tried again where the schedule leaves one, and it must leave time for records to arrive
        // late.
        fc.pre(firstMs + 1000 < any.windowMs && afterMs >= any.windowMs - smallestMs);
        const { attemptsMs, reason } = simulate({
          schedule: any,
          afterMs,
          latenessMs,
          random: () => randoms.next().value,
        });
        expect(attemptsMs).toHaveLength(2);
        expect(attemptsMs[1]).toBeLessThan(any.windowMs);
        expect(attemptsMs[1]).toBeGreaterThanOrEqual(any.windowMs - 2 * smallestMs);
        expect(reason).toBe("window_expired");
      }),
      { numRuns: 300 },
    );
  });

  it("I3: a destination that stays dead is given up within the window, after one attempt at least", () => {
    fc.assert(
      fc.property(anySchedule, fc.nat(200_000), (any, waiting) => {
        let nowMs = 0;
        let progress = NO_PROGRESS;
        for (let step = 0; step < 100_000; step++) {
          const plan = planDeferral({ schedule: any, progress, nowMs, notBeforeMs: null, waiting });
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
  it("the window does not start, however long it takes", () => {
    let progress: DeliveryProgress = NO_PROGRESS;
    const delays: number[] = [];
    for (let step = 0; step < 6; step++) {
      const plan = planHold({ schedule, progress, nowMs: 1e9 });
      delays.push(plan.delayMs);
      progress = plan.progress;
    }
    expect(delays).toEqual([10_000, 30_000, 60_000, 300_000, 300_000, 300_000]);
    expect(progress).toEqual({ ...NO_PROGRESS, deferrals: 6 });
  });

  it("the window does not end before the delivery is back, and ends no sooner where it is far", () => {
    const begun = { ...NO_PROGRESS, attempts: 2, windowStartMs: 0, deadlineMs: 4 * HOUR };
    expect(planHold({ schedule, progress: begun, nowMs: 1000 }).progress).toMatchObject({ deadlineMs: 4 * HOUR });
    const nowMs = 4 * HOUR - 5;
    expect(planHold({ schedule, progress: begun, nowMs }).progress).toMatchObject({ deadlineMs: nowMs + 20_000 });
  });
});

describe("held for its last attempt", () => {
  it("stays owed it, after the window's end too: never attempted, or asked by a receiver to outwait it", () => {
    const never = { ...NO_PROGRESS, deferrals: 9, windowStartMs: 0, deadlineMs: 4 * HOUR };
    const asked = { ...never, attempts: 1, notBeforeMs: 10 * HOUR };
    for (const progress of [never, asked]) {
      const owed = defer(progress, 4 * HOUR - 5000);
      if (owed.kind !== "last_attempt") throw new Error(`it is ${owed.kind}`);
      const held = planAdmissionHold({ schedule, progress: owed.progress });
      expect(held).toMatchObject({ delayMs: 300_000, progress: { deferrals: 10, deadlineMs: 4 * HOUR } });
      expect(defer(held.progress, 4 * HOUR + 295_000)).toMatchObject({ kind: "last_attempt" });
    }
  });

  it("is owed none for a peace that ended within the window, nor for a gate that shut after its end", () => {
    const attempted = { ...NO_PROGRESS, attempts: 1, windowStartMs: 0, deadlineMs: 4 * HOUR };
    const asked = { ...attempted, notBeforeMs: 4 * HOUR - 20_000 };
    expect(defer(asked, 4 * HOUR)).toMatchObject({ kind: "dead_letter", reason: "window_expired" });
    expect(defer(attempted, 4 * HOUR, 0, 9 * HOUR)).toMatchObject({ kind: "dead_letter", reason: "window_expired" });
    expect(defer({ ...asked, notBeforeMs: asked.notBeforeMs + 1 }, 4 * HOUR)).toMatchObject({ kind: "last_attempt" });
  });
});

it("the window is over from its deadline on, and never before it started", () => {
  expect(isWindowOver(NO_PROGRESS, 1e15)).toBe(false);
  expect(isWindowOver({ ...NO_PROGRESS, deadlineMs: 10 }, 9)).toBe(false);
  expect(isWindowOver({ ...NO_PROGRESS, deadlineMs: 10 }, 10)).toBe(true);
});

import { createFakeClock } from "@posthaste/testkit/clock";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createRateLimit } from "./rate-limit.ts";

const PLENTY = 1_000_000_000;

it("takes a second's calls at once, and then what each moment earns", () => {
  const clock = createFakeClock();
  const limit = createRateLimit({ perSecond: { calls: 10, bytes: PLENTY }, monotonicMs: clock.monotonicMs });
  for (let call = 0; call < 10; call++) {
    expect(limit.waitMs("s")).toBe(0);
    limit.take("s", { calls: 1, bytes: 1 });
  }
  expect(limit.waitMs("s")).toBeGreaterThan(0);
  clock.advance(100);
  expect(limit.waitMs("s")).toBe(0);
  limit.take("s", { calls: 1, bytes: 1 });
  expect(limit.waitMs("s")).toBeGreaterThan(0);
  expect(limit.waitMs("other")).toBe(0);
});

it("takes a batch whole and lets the next one wait for the debt, of calls or of bytes, whichever is longer", () => {
  const clock = createFakeClock();
  const limit = createRateLimit({ perSecond: { calls: 10, bytes: 1_000 }, monotonicMs: clock.monotonicMs });
  limit.take("s", { calls: 40, bytes: 2_000 });
  expect(limit.waitMs("s")).toBe(3_000);
  limit.take("s", { calls: 0, bytes: 4_000 });
  expect(limit.waitMs("s")).toBe(5_000);
  clock.advance(5_001);
  expect(limit.waitMs("s")).toBe(0);
});

it("earns nothing beyond a full bucket for a pause, also where nobody asked before it took", () => {
  const clock = createFakeClock();
  const limit = createRateLimit({ perSecond: { calls: 10, bytes: PLENTY }, monotonicMs: clock.monotonicMs });
  limit.take("s", { calls: 0, bytes: 0 });
  clock.advance(10_000);
  limit.take("s", { calls: 15, bytes: 0 });
  expect(limit.waitMs("s")).toBe(500);
});

it("never takes more over a time than that time earned, one second's worth and one batch", () => {
  const step = fc.record({
    waitMs: fc.nat(2_000),
    calls: fc.integer({ min: 1, max: 50 }),
    bytes: fc.integer({ min: 1, max: 500 }),
  });
  const perSecond = fc.record({ calls: fc.integer({ min: 1, max: 100 }), bytes: fc.integer({ min: 1, max: 1_000 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), perSecond, (moments, most) => {
      const clock = createFakeClock();
      const limit = createRateLimit({ perSecond: most, monotonicMs: clock.monotonicMs });
      const taken = { calls: 0, bytes: 0 };
      let seconds = 0;
      for (const { waitMs, calls, bytes } of moments) {
        clock.advance(waitMs);
        seconds += waitMs / 1000;
        if (limit.waitMs("s") > 0) continue;
        limit.take("s", { calls, bytes });
        taken.calls += calls;
        taken.bytes += bytes;
        expect(taken.calls).toBeLessThanOrEqual((seconds + 1) * most.calls + 50);
        expect(taken.bytes).toBeLessThanOrEqual((seconds + 1) * most.bytes + 500);
      }
    }),
  );
});

it("SB1: buckets that are full again are dropped once there are thousands, and what a source owes is kept", () => {
  const clock = createFakeClock();
  const limit = createRateLimit({ perSecond: { calls: 10, bytes: 1_000 }, monotonicMs: clock.monotonicMs });
  for (let source = 0; source < 4_095; source++) limit.take(`removed ${source}`, { calls: 1, bytes: 1 });
  limit.take("owes calls", { calls: 40, bytes: 1 });
  limit.take("owes bytes", { calls: 1, bytes: 4_000 });
  clock.advance(1_000);
  limit.take("new", { calls: 1, bytes: 1 });
  expect(limit.size).toBe(3);
  expect([limit.waitMs("owes calls"), limit.waitMs("owes bytes"), limit.waitMs("removed 0")]).toEqual([
    2_000, 2_000, 0,
  ]);
});

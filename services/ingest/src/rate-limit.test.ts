import { createFakeClock } from "@posthaste/testkit/clock";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createRateLimit } from "./rate-limit.ts";

it("takes a second's calls at once, and then what each moment earns", () => {
  const clock = createFakeClock();
  const limit = createRateLimit({ callsPerSecond: 10, monotonicMs: clock.monotonicMs });
  for (let call = 0; call < 10; call++) expect(limit.take("s", 1)).toBe(0);
  expect(limit.take("s", 1)).toBeGreaterThan(0);
  clock.advance(100);
  expect(limit.take("s", 1)).toBe(0);
  expect(limit.take("s", 1)).toBeGreaterThan(0);
  expect(limit.take("other", 1)).toBe(0);
});

it("takes a batch whole and lets the next one wait for the debt", () => {
  const clock = createFakeClock();
  const limit = createRateLimit({ callsPerSecond: 10, monotonicMs: clock.monotonicMs });
  expect(limit.take("s", 40)).toBe(0);
  expect(limit.take("s", 1)).toBe(3_000);
  clock.advance(3_001);
  expect(limit.take("s", 1)).toBe(0);
});

it("never takes more over a time than that time earned, one second's calls and one batch", () => {
  const steps = fc.array(fc.record({ waitMs: fc.nat(2_000), calls: fc.integer({ min: 1, max: 50 }) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 100 }), (moments, callsPerSecond) => {
      const clock = createFakeClock();
      const limit = createRateLimit({ callsPerSecond, monotonicMs: clock.monotonicMs });
      let taken = 0;
      let elapsedMs = 0;
      for (const { waitMs, calls } of moments) {
        clock.advance(waitMs);
        elapsedMs += waitMs;
        if (limit.take("s", calls) === 0) taken += calls;
        expect(taken).toBeLessThanOrEqual((elapsedMs * callsPerSecond) / 1000 + callsPerSecond + 50);
      }
    }),
  );
});

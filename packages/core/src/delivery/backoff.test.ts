import fc from "fast-check";
import { expect, it } from "vitest";
import { DEFAULT_RETRY_DELAYS_MS, jitterMs } from "./backoff.ts";

it("the default schedule's last attempt starts 3 h 51 min 40 s after the first", () => {
  const total = DEFAULT_RETRY_DELAYS_MS.reduce((sum, delayMs) => sum + delayMs, 0);
  expect(total).toBe(((3 * 60 + 51) * 60 + 40) * 1000);
});

const delays = fc.array(fc.integer({ min: 1, max: 7_200_000 }), { minLength: 1, maxLength: 10 });
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

it("W6: jitter stays below the smallest gap between attempts, a tenth of the delay and a second", () => {
  fc.assert(
    fc.property(delays, share, share, (delaysMs, fill, random) => {
      for (const delayMs of delaysMs) {
        const jitter = jitterMs({ delayMs, delaysMs, fill }, random);
        expect(jitter).toBeGreaterThanOrEqual(0);
        expect(jitter).toBeLessThan(Math.min(...delaysMs));
        expect(jitter).toBeLessThanOrEqual(Math.min(delayMs / 10, 900));
      }
    }),
  );
});

it("W6: jitter shrinks as the window fills, and a full window adds none", () => {
  fc.assert(
    fc.property(delays, share, share, (delaysMs, fill, random) => {
      const [delayMs = 1] = delaysMs;
      const free = jitterMs({ delayMs, delaysMs, fill: 0 }, random);
      expect(jitterMs({ delayMs, delaysMs, fill }, random)).toBeCloseTo(free * (1 - fill), 6);
      expect(jitterMs({ delayMs, delaysMs, fill: 1 }, random)).toBe(0);
    }),
  );
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Pace } from "./pace.ts";

describe("a pace", () => {
  it("lets as many go as its rate has room for, however unevenly it is asked, and never more", () => {
    const rates = fc.integer({ min: 1, max: 5000 });
    const steps = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(rates, steps, (perSecond, stepsMs) => {
        const pace = new Pace(perSecond, 100);
        let [nowMs, taken] = [100, 0];
        for (const stepMs of stepsMs) {
          nowMs += stepMs;
          const allowed = pace.allowed(nowMs);
          pace.take(allowed);
          taken += allowed;
          const due = ((nowMs - 100) / 1000) * perSecond;
          expect(taken).toBeLessThanOrEqual(due + 1e-6);
          expect(taken).toBeGreaterThan(due - 1.001);
        }
      }),
    );
  });

  it("catches up with a second of what was held up, and no more", () => {
    const pace = new Pace(10, 0);
    expect(pace.allowed(60_000)).toBe(11);
    pace.take(11);
    expect([pace.allowed(60_050), pace.allowed(60_100)]).toEqual([0, 1]);
  });
});

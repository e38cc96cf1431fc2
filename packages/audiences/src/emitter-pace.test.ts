import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EmitterPace, stepMsAt } from "./emitter-pace.ts";

it.each([
  ["fewer than so many a step, for no longer than a twentieth of a second", 50, 50],
  ["twenty-five a step at the default rate", 500, 50],
  ["as many a step at a higher one, more often", 2000, 12.5],
  ["no more often than every five milliseconds", 1_000_000, 5],
])("identifies go out %s", (_, ratePerSecond, stepMs) => {
  expect(stepMsAt(ratePerSecond)).toBe(stepMs);
});

interface Step {
  readonly atMs: number;
  readonly sent: number;
}

/** Steps while more waits than ever goes, each later than it was asked for by so much. */
function stepsOf(ratePerSecond: number, lateMs: readonly number[]): readonly Step[] {
  const pace = new EmitterPace(ratePerSecond, 0);
  let atMs = 0;
  return lateMs.map((late) => {
    atMs += late;
    const step = { atMs, sent: 0 };
    while (pace.takeTurn(atMs)) step.sent += 1;
    atMs += pace.nextStepMs(atMs);
    return step;
  });
}

const sum = (steps: readonly Step[]): number => steps.reduce((total, { sent }) => total + sent, 0);

describe("the emitter's pace", () => {
  it("EP1: lets no more out over any second than the rate and a tenth of it, also after steps that came late", () => {
    const late = fc.oneof(fc.constant(0), fc.nat(30), fc.integer({ min: 100, max: 60_000 }));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.array(late, { minLength: 1, maxLength: 100 }),
        (ratePerSecond, lateMs) => {
          const steps = stepsOf(ratePerSecond, lateMs);
          const burst = Math.max(1, ratePerSecond / 10);
          for (const { atMs, sent } of steps) {
            expect(sent).toBeLessThanOrEqual(burst + 1e-6);
            const inSecond = steps.filter((step) => step.atMs >= atMs && step.atMs < atMs + 1000);
            expect(sum(inSecond)).toBeLessThanOrEqual(ratePerSecond + burst + 1e-6);
          }
        },
      ),
    );
  });

  it("EP2: reaches the rate where steps come no later than a timer is", () => {
    const lateMs = fc.array(fc.nat(20), { minLength: 20, maxLength: 50 });
    // Below it a full bucket is a token or two, and tokens that a late timer costs are lost to EP1.
    fc.assert(
      fc.property(fc.integer({ min: 40, max: 5000 }), lateMs, (ratePerSecond, late) => {
        const steps = stepsOf(ratePerSecond, late);
        const owed = (ratePerSecond * (steps.at(-1)?.atMs ?? 0)) / 1000;
        expect(sum(steps)).toBeGreaterThan(owed - 1 - 1e-6);
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SyncPace } from "./sync-pace.ts";

interface Step {
  readonly atMs: number;
  readonly users: number;
}

/** Steps of several syncs, each as soon as it may; each pause ends later than it was asked to by so much. */
async function stepsOf(usersPerSecond: number, syncs: readonly (readonly number[])[], lateMs: number) {
  let nowMs = 0;
  let sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  const pause = (ms: number) =>
    new Promise<void>((wake) => {
      sleepers.push({ atMs: nowMs + ms + lateMs, wake });
    });
  const pace = new SyncPace({ usersPerSecond, clock: { monotonicMs: () => nowMs }, pause });
  const steps: Step[] = [];
  let running = syncs.length;
  const runs = syncs.map(async (sizes) => {
    for (const users of sizes) {
      steps.push({ atMs: nowMs, users });
      await pace.passed(users);
    }
    running -= 1;
  });
  while (running > 0) {
    // Steps that need no pause go first.
    await new Promise((resolve) => setImmediate(resolve));
    const next = sleepers.toSorted((a, b) => a.atMs - b.atMs)[0];
    if (next === undefined) continue;
    sleepers = sleepers.filter((sleeper) => sleeper !== next);
    nowMs = next.atMs;
    next.wake();
  }
  await Promise.all(runs);
  return { steps, endMs: nowMs };
}

const sizes = fc.array(fc.integer({ min: 1, max: 250 }), { minLength: 1, maxLength: 30 });

describe("the pace of syncs", () => {
  it.each([
    [100, 5],
    [5000, 250],
    [1_000_000, 1000],
  ])("at %i users a second makes steps of %i", (usersPerSecond, users) => {
    expect(new SyncPace({ usersPerSecond, clock: { monotonicMs: () => 0 } }).stepUsers).toBe(users);
  });

  it("SQ1: lets no more pass over any second than the rate, a tenth of it and a step of each sync", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 100, max: 10_000 }),
        fc.array(sizes, { minLength: 1, maxLength: 3 }),
        fc.nat(200),
        async (usersPerSecond, syncs, lateMs) => {
          const { steps } = await stepsOf(usersPerSecond, syncs, lateMs);
          for (const { atMs } of steps) {
            const inSecond = steps.filter((step) => step.atMs >= atMs && step.atMs < atMs + 1000);
            const users = inSecond.reduce((sum, step) => sum + step.users, 0);
            expect(users).toBeLessThanOrEqual(usersPerSecond * 1.1 + 250 * syncs.length);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it("SQ2: reaches the rate while there are users, late timers aside", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1000, max: 10_000 }), sizes, async (usersPerSecond, steps) => {
        const { endMs } = await stepsOf(usersPerSecond, [steps], 0);
        const users = steps.reduce((sum, step) => sum + step, 0);
        // A pause is of whole milliseconds.
        expect(endMs).toBeLessThanOrEqual((users / usersPerSecond) * 1000 + steps.length);
      }),
      { numRuns: 50 },
    );
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { NO_PROGRESS } from "../delivery/delivery.ts";
import { planRetry } from "../delivery/retry-plan.ts";
import { attemptsLeft } from "./attempts-left.ts";

const schedules = fc.record({
  delaysMs: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
  windowMs: fc.integer({ min: 1, max: 20 }),
});

it("as many attempts are left as delivery makes, where each comes when it is due and fails at once", () => {
  fc.assert(
    fc.property(schedules, (schedule) => {
      const waits: { tries: number; dueAtMs: number; deadlineMs: number | null }[] = [];
      let [progress, nowMs] = [NO_PROGRESS, 1000];
      for (;;) {
        const plan = planRetry({ schedule, progress, nowMs, notBeforeMs: null, urls: null });
        if (plan.kind === "dead_letter") break;
        progress = plan.progress;
        nowMs += plan.delayMs;
        waits.push({ tries: progress.attempts, dueAtMs: nowMs, deadlineMs: progress.deadlineMs });
      }
      const left = waits.map((waiting) => attemptsLeft(waiting, schedule.delaysMs));
      expect(left).toEqual(waits.map((_, index) => waits.length - index));
    }),
  );
});

it("where the window's end is not known, the schedule alone says how many", () => {
  const waiting = { tries: 1, dueAtMs: 10, deadlineMs: null };
  expect([attemptsLeft(waiting, [1, 2, 3]), attemptsLeft({ ...waiting, tries: 9 }, [1, 2, 3])]).toEqual([3, 1]);
});

import { afterEach, expect, it, vi } from "vitest";
import { eventually, pauseAfter } from "./eventually.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("answers what the check answers once it no longer throws", async () => {
  let looks = 0;
  const answer = await eventually(
    () => {
      looks += 1;
      if (looks < 3) throw new Error("not yet");
      return "there";
    },
    { intervalMs: 1 },
  );
  expect([answer, looks]).toEqual(["there", 3]);
});

it("rejects with the last failure of the check when time is up", async () => {
  let looks = 0;
  const waiting = eventually(
    () => {
      looks += 1;
      throw new Error(`look ${looks}`);
    },
    { timeoutMs: 5, intervalMs: 1 },
  );
  await expect(waiting).rejects.toThrow(/^look \d+$/);
  await expect(waiting).rejects.toThrow(`look ${looks}`);
});

it("looks once even when no time is given", async () => {
  await expect(eventually(() => 1, { timeoutMs: 0 })).resolves.toBe(1);
});

it.each([
  [0, 20],
  [200, 20],
  [500, 50],
  [1_000, 100],
  [60_000, 100],
])("pauses, after %i ms in vain, for %i ms", (waitedMs, pauseMs) => {
  expect(pauseAfter(waitedMs)).toBe(pauseMs);
});

it.each([
  [3, undefined, 20],
  [40, undefined, 80],
  [300, 100, 600],
  [30, 100, 100],
  [5_000, undefined, 1_000],
  [5_000, 3_000, 3_000],
])("pauses after a look of %i ms, where %s ms were asked for, for %i ms", (lookMs, intervalMs, pauseMs) => {
  expect(pauseAfter(0, { lookMs, intervalMs })).toBe(pauseMs);
});

it("pauses twice as long as a look took", async () => {
  vi.useFakeTimers();
  const lookedAtMs: number[] = [];
  const waiting = eventually(
    async () => {
      lookedAtMs.push(performance.now());
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (lookedAtMs.length < 2) throw new Error("not yet");
    },
    { intervalMs: 0 },
  );
  await vi.runAllTimersAsync();
  await waiting;
  const [first = 0, second = 0] = lookedAtMs;
  expect(second - first).toBe(150);
});

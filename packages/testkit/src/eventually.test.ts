import { expect, it } from "vitest";
import { eventually, pauseAfter } from "./eventually.ts";

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

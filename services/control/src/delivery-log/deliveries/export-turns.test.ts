import { setImmediate as settled } from "node:timers/promises";
import { expect, it } from "vitest";
import { ExportTurns } from "./export-turns.ts";

it("LX1: one step is made at a time, and the next waits as long as it took, where it failed too", async () => {
  let nowMs = 0;
  const rests: { readonly ms: number; readonly end: () => void }[] = [];
  const delay = (ms: number) => new Promise<void>((end) => rests.push({ ms, end }));
  const turns = new ExportTurns({ monotonicMs: () => nowMs, delay });
  const made: string[] = [];
  const step = (name: string, ms: number) =>
    turns.take(() => {
      nowMs += ms;
      made.push(name);
      if (name === "fails") throw new Error("broken");
      return name;
    });
  const [first, failing, last] = [step("first", 30), step("fails", 5), step("last", 1)];
  failing.catch(() => undefined);
  expect(await first).toBe("first");
  await settled();
  expect([made, rests.map(({ ms }) => ms)]).toEqual([["first"], [30]]);
  rests[0]?.end();
  await expect(failing).rejects.toThrow("broken");
  await settled();
  expect(made).toEqual(["first", "fails"]);
  rests[1]?.end();
  expect(await last).toBe("last");
  expect(rests.map(({ ms }) => ms)).toEqual([30, 5, 1]);
});

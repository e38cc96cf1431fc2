import { expect, it } from "vitest";
import { stepMsAt } from "./emitter-pace.ts";

it.each([
  ["fewer than so many a step, for no longer than a twentieth of a second", 50, 50],
  ["twenty-five a step at the default rate", 500, 50],
  ["as many a step at a higher one, more often", 2000, 12.5],
  ["no more often than every five milliseconds", 1_000_000, 5],
])("identifies go out %s", (_, ratePerSecond, stepMs) => {
  expect(stepMsAt(ratePerSecond)).toBe(stepMs);
});

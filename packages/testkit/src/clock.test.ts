import { expect, it } from "vitest";
import { createFakeClock } from "./clock.ts";

it("stands still until it is moved, and moves both readings when time passes", () => {
  const clock = createFakeClock(1_000);
  expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1_000, 0]);
  clock.advance(250);
  expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1_250, 250]);
});

it("leaves the monotonic reading alone when somebody sets the clock back", () => {
  const clock = createFakeClock(1_000);
  clock.advance(10);
  clock.step(-500);
  expect([clock.nowMs(), clock.monotonicMs()]).toEqual([510, 10]);
});

it("refuses to let time go back", () => {
  expect(() => createFakeClock().advance(-1)).toThrow(RangeError);
});

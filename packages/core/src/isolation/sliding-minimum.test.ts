import { expect, it } from "vitest";
import { SlidingMinimum } from "./sliding-minimum.ts";

const MINUTE_MS = 60_000;

it("SM1: holds the least value of this minute and the one before, and no older one", () => {
  const least = new SlidingMinimum();
  expect(least.value).toBe(Number.POSITIVE_INFINITY);
  least.note(5, 0);
  least.note(9, 10);
  expect(least.value).toBe(5);
  least.note(7, MINUTE_MS);
  expect(least.value).toBe(5);
  least.note(8, 2 * MINUTE_MS);
  expect(least.value).toBe(7);
});

it("SM1: forgets everything over a long pause", () => {
  const least = new SlidingMinimum();
  least.note(1, 0);
  least.note(6, 10 * MINUTE_MS);
  expect(least.value).toBe(6);
});

import { expect, it } from "vitest";
import { callsPerSecond } from "./call-rate.ts";

/** The minute that is told of ends 15 s before this, at 85 s, and begins at 25 s. */
const NOW_MS = 100_000;
const spanOf = (sinceMs: number, untilMs: number, accepted: number) => ({ sinceMs, untilMs, accepted });

it("calls a second are those of the newest minute that was told of, of all processes", () => {
  const one = [spanOf(25_000, 35_000, 600), spanOf(75_000, 85_000, 300)];
  expect(callsPerSecond([...one, spanOf(40_000, 50_000, 300)], NOW_MS)).toBe(20);
  expect(callsPerSecond([], NOW_MS)).toBe(0);
});

it("calls that were counted over the edge of the minute count in part, others not at all", () => {
  expect(callsPerSecond([spanOf(20_000, 30_000, 1200)], NOW_MS)).toBe(10);
  expect(callsPerSecond([spanOf(80_000, 90_000, 1200)], NOW_MS)).toBe(10);
  expect(callsPerSecond([spanOf(0, 100_000, 1000)], NOW_MS)).toBe(10);
  expect(
    callsPerSecond([spanOf(10_000, 25_000, 9), spanOf(85_000, 95_000, 9), spanOf(50_000, 50_000, 9)], NOW_MS),
  ).toBe(0);
});

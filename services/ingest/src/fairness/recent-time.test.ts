import { expect, it } from "vitest";
import { createRecentTime } from "./recent-time.ts";

it("the time that a source had is half as much a second later, beside what it has since, and for itself alone", () => {
  let nowMs = 0;
  const recent = createRecentTime(() => nowMs);
  recent.add("a", 8);
  nowMs = 1_000;
  recent.add("a", 2);
  recent.add("b", 1);
  expect(recent.of("a")).toBe(6);
  nowMs = 2_000;
  expect(recent.of("a")).toBe(3);
  expect(recent.of("b")).toBe(0.5);
  expect(recent.of("c")).toBe(0);
});

it("RC1: sums of sources that had no time for ten seconds are dropped once there are thousands, and no other", () => {
  let nowMs = 0;
  const recent = createRecentTime(() => nowMs);
  for (let source = 0; source < 5_000; source++) recent.add(`quiet ${source}`, 1);
  nowMs = 1;
  recent.add("lately", 8);
  nowMs = 10_000;
  recent.add("now", 8);
  expect(recent.size).toBe(2);
  expect(recent.of("now")).toBe(8);
  expect(recent.of("lately")).toBeGreaterThan(0);
});

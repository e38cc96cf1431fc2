import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MAX_HELD_REFUSALS, PROMPT_REFUSALS, REFUSAL_DELAY_MS } from "../limits.ts";
import { createLateRefusals, type LateRefusals } from "./late-refusals.ts";

let refusals: LateRefusals;
let reported: number;
beforeEach(() => {
  vi.useFakeTimers();
  reported = 0;
  refusals = createLateRefusals(Date.now);
});
afterEach(() => {
  vi.useRealTimers();
});
const refuse = (source: string, times: number) => {
  for (let time = 0; time < times; time++) refusals.refuse(source, () => reported++);
};

it("LA1: tells a source's first refusals in a second at once, and its others one to two seconds later", () => {
  refuse("a", PROMPT_REFUSALS + 5);
  expect(reported).toBe(PROMPT_REFUSALS);
  refuse("b", 1);
  expect(reported).toBe(PROMPT_REFUSALS + 1);
  vi.advanceTimersByTime(REFUSAL_DELAY_MS - 1);
  expect(reported).toBe(PROMPT_REFUSALS + 1);
  vi.advanceTimersByTime(REFUSAL_DELAY_MS + 1);
  expect(reported).toBe(PROMPT_REFUSALS + 6);
  refuse("a", 1);
  expect(reported).toBe(PROMPT_REFUSALS + 7);
});

it("LA1: tells no more of those that came together in any tenth of a second than a little over their tenth", () => {
  refuse("a", PROMPT_REFUSALS + 1_000);
  vi.advanceTimersByTime(REFUSAL_DELAY_MS);
  for (let tenth = 0; tenth < 10; tenth++) {
    const before = reported;
    vi.advanceTimersByTime(REFUSAL_DELAY_MS / 10);
    expect(Math.abs(reported - before - 100)).toBeLessThan(10);
  }
});

it("LA2: holds so many and no more", () => {
  refuse("a", PROMPT_REFUSALS + MAX_HELD_REFUSALS);
  expect(reported).toBe(PROMPT_REFUSALS);
  refuse("a", 3);
  expect(reported).toBe(PROMPT_REFUSALS + 3);
  vi.advanceTimersByTime(2 * REFUSAL_DELAY_MS);
  expect(reported).toBe(PROMPT_REFUSALS + MAX_HELD_REFUSALS + 3);
  // Reported refusals are held no more, so as many are held again.
  refuse("a", PROMPT_REFUSALS + MAX_HELD_REFUSALS);
  expect(reported).toBe(2 * PROMPT_REFUSALS + MAX_HELD_REFUSALS + 3);
});

it("LA2: holds nothing for a sender that has left, and tells each once", () => {
  refuse("a", PROMPT_REFUSALS);
  const left = Array.from({ length: MAX_HELD_REFUSALS }, () => refusals.refuse("a", () => reported++));
  expect(reported).toBe(PROMPT_REFUSALS);
  for (const leave of [...left, ...left]) leave();
  expect(reported).toBe(PROMPT_REFUSALS + MAX_HELD_REFUSALS);
  refuse("a", MAX_HELD_REFUSALS);
  expect(reported).toBe(PROMPT_REFUSALS + MAX_HELD_REFUSALS);
  vi.advanceTimersByTime(2 * REFUSAL_DELAY_MS);
  expect(reported).toBe(PROMPT_REFUSALS + 2 * MAX_HELD_REFUSALS);
  for (const leave of left) leave();
  expect(reported).toBe(PROMPT_REFUSALS + 2 * MAX_HELD_REFUSALS);
});

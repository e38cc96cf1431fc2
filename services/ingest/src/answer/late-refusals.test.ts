import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MAX_HELD_REFUSALS, PROMPT_REFUSALS, REFUSAL_DELAY_MS } from "../limits.ts";
import { createLateRefusals, type LateRefusals } from "./late-refusals.ts";

let refusals: LateRefusals;
let told: number;
beforeEach(() => {
  vi.useFakeTimers();
  told = 0;
  refusals = createLateRefusals(Date.now);
});
afterEach(() => {
  vi.useRealTimers();
});
const refuse = (source: string, times: number) => {
  for (let time = 0; time < times; time++) refusals.refuse(source, () => told++);
};

it("LA1: tells a source's first refusals in a second at once, and its others a second later", () => {
  refuse("a", PROMPT_REFUSALS + 5);
  expect(told).toBe(PROMPT_REFUSALS);
  refuse("b", 1);
  expect(told).toBe(PROMPT_REFUSALS + 1);
  vi.advanceTimersByTime(REFUSAL_DELAY_MS - 1);
  expect(told).toBe(PROMPT_REFUSALS + 1);
  vi.advanceTimersByTime(1);
  expect(told).toBe(PROMPT_REFUSALS + 6);
  refuse("a", 1);
  expect(told).toBe(PROMPT_REFUSALS + 7);
});

it("LA2: holds so many and no more", () => {
  refuse("a", PROMPT_REFUSALS + MAX_HELD_REFUSALS);
  expect(told).toBe(PROMPT_REFUSALS);
  refuse("a", 3);
  expect(told).toBe(PROMPT_REFUSALS + 3);
  vi.advanceTimersByTime(REFUSAL_DELAY_MS);
  expect(told).toBe(PROMPT_REFUSALS + MAX_HELD_REFUSALS + 3);
  // What was told is held no more, so as many are held again.
  refuse("a", PROMPT_REFUSALS + MAX_HELD_REFUSALS);
  expect(told).toBe(2 * PROMPT_REFUSALS + MAX_HELD_REFUSALS + 3);
});

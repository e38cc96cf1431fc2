import { describe, expect, it } from "vitest";
import { AnswerCost, UsualCost } from "./answer-cost.ts";

/** Notes as many answers as bring the mean close to `costMs`, 100 ms apart; returns the time of the last. */
function practise(cost: AnswerCost, costMs: number, fromMs = 0): number {
  let nowMs = fromMs;
  for (let answer = 0; answer < 100; answer++) {
    nowMs += 100;
    cost.note(costMs, nowMs);
  }
  return nowMs;
}

describe("the cost of a URL's answers", () => {
  it("YC1: is dear from half a millisecond on, where others cost next to nothing", () => {
    const usual = new UsualCost();
    const [cheap, dear] = [new AnswerCost(usual), new AnswerCost(usual)];
    for (let second = 0; second < 100; second++) {
      cheap.note(0.4, second * 1000);
      dear.note(0.6, second * 1000);
      new AnswerCost(usual).note(0, second * 1000);
    }
    expect([cheap.isDear, dear.isDear]).toEqual([false, true]);
  });

  it("YC1: is not dear by a long answer now and then", () => {
    const cost = new AnswerCost(new UsualCost());
    practise(cost, 0);
    cost.note(4, 20_000);
    expect(cost.isDear).toBe(false);
  });

  it("YC1: is not dear where answers usually cost as much, as on a slow machine", () => {
    const usual = new UsualCost();
    const all = Array.from({ length: 9 }, () => new AnswerCost(usual));
    const dear = new AnswerCost(usual);
    for (let second = 0; second < 200; second++) {
      for (const each of all) each.note(0.8, second * 1000);
      dear.note(20, second * 1000);
    }
    expect(usual.valueMs).toBeGreaterThan(0.6);
    expect(all.some(({ isDear }) => isDear)).toBe(false);
    expect(dear.isDear).toBe(true);
  });

  it("YC1: is held to what a third of the URLs cost, however many answers the dear ones have", () => {
    const usual = new UsualCost();
    const cheap = new AnswerCost(usual);
    const dear = new AnswerCost(usual);
    for (let nowMs = 0; nowMs < 200_000; nowMs += 10) {
      if (nowMs % 1000 === 0) cheap.note(0, nowMs);
      dear.note(1, nowMs);
    }
    expect(dear.isDear).toBe(true);
  });

  it("YC2: rests after each answer for nine times its cost, added up, and for a second at the most", () => {
    const cost = new AnswerCost(new UsualCost());
    const nowMs = practise(cost, 2) + 1000;
    expect(cost.isResting(nowMs)).toBe(false);
    cost.note(2, nowMs);
    cost.note(2, nowMs);
    expect([cost.isResting(nowMs + 35), cost.isResting(nowMs + 36)]).toEqual([true, false]);
    expect(cost.turnMs).toBeCloseTo(20, 0);
    for (let answer = 0; answer < 1000; answer++) cost.note(2, nowMs);
    expect([cost.isResting(nowMs + 999), cost.isResting(nowMs + 1000)]).toEqual([true, false]);
  });

  it("YC2: rests no more once its answers are cheap again", () => {
    const cost = new AnswerCost(new UsualCost());
    const nowMs = practise(cost, 0, practise(cost, 2));
    expect([cost.isDear, cost.isResting(nowMs), cost.turnMs]).toEqual([false, false, 0]);
  });
});

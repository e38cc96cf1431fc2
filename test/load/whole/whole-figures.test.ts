import { describe, expect, it } from "vitest";
import { excessesOf } from "./ratchet.ts";
import { ofEach, type RawLoop } from "./whole-bench.ts";
import { plotOf, type Round, summaryOf, tableOf } from "./whole-figures.ts";

const LOOP: RawLoop = { perSecond: 10_000, cpu: 0.1 };

function round(perSecond: number, cpu: number, loop = LOOP): Round {
  return { perSecond, cpu: ofEach((name) => (name === "control" ? cpu : 0.01)), loop };
}

describe("the figures of the whole path", () => {
  const rounds = [round(1000, 0.06), round(3000, 0.02), round(2000, 0.04, { perSecond: 20_000, cpu: 0.05 })];

  it("are the medians of the rounds, each beside the raw loop of its own round", () => {
    const summary = summaryOf("single", rounds);
    expect(summary).toMatchObject({ perSecond: 2000, ofLoop: 0.1, p50Ms: undefined });
    expect(summary.times.median).toBeCloseTo(1);
    expect(summary.times.least).toBeCloseTo(0.6);
    expect(summary.times.most).toBeCloseTo(1.6);
    expect(summary.timesOf.control).toBeCloseTo(0.6);
    expect(tableOf([summary])).toContain("| single | 2000 | 0.10 | 1.00 (0.60 to 1.60) | 0.080 |");
  });

  it("draw a part of a bar for each process, as wide as its share", () => {
    const widths = [...plotOf([summaryOf("single", rounds)]).matchAll(/width="([\d.]+)" height="20"/g)].map(widthIn);
    expect(widths).toHaveLength(5);
    expect(Math.max(...widths) / Math.min(...widths)).toBeCloseTo(6, 1);
  });

  it("are over an accepted run where a process takes 15 % more, and not where its load is new or it takes less", () => {
    const summaries = [summaryOf("single", [round(1, 0.2)]), summaryOf("new", [round(1, 9)])];
    const accepted = (control: number) => ({ single: ofEach((name) => (name === "control" ? control : 0.1)) });
    expect(excessesOf(summaries, accepted(1.5))).toEqual([
      { load: "single", process: "control", times: 2, accepted: 1.5 },
    ]);
    expect(excessesOf(summaries, accepted(1.8))).toEqual([]);
    expect(excessesOf(summaries, accepted(3))).toEqual([]);
  });
});

function widthIn(match: RegExpMatchArray): number {
  return Number(match[1]);
}

import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { ACTIVE_MS, MAX_UNDER_WAY } from "./limits.ts";
import { createUnderWay, type UnderWay } from "./under-way.ts";

let nowMs: number;
let isBusy: boolean;
let underWay: UnderWay;
beforeEach(() => {
  nowMs = 0;
  isBusy = true;
  underWay = createUnderWay({ isBusy: () => isBusy, monotonicMs: () => nowMs });
});

/** Begins as many as it may, up to so many. */
const beginAll = (source: string, most: number): number => {
  let begun = 0;
  while (begun < most && !underWay.isFull(source)) {
    underWay.begin(source);
    begun++;
  }
  return begun;
};

describe("requests under way", () => {
  it("U1: have no bound of a source that is alone", () => {
    expect(beginAll("alone", 10_000)).toBe(10_000);
  });

  it("U1: have none while the process has time", () => {
    isBusy = false;
    underWay.begin("other");
    expect(beginAll("one", 10_000)).toBe(10_000);
    isBusy = true;
    expect(beginAll("one", 1)).toBe(0);
  });

  it("U2: are shared with a source until a second after its last request", () => {
    underWay.begin("other")();
    expect(beginAll("one", 10_000)).toBe(MAX_UNDER_WAY / 2);
    nowMs = ACTIVE_MS;
    expect(beginAll("one", 1)).toBe(0);
    nowMs = ACTIVE_MS + 1;
    expect(beginAll("one", 100)).toBe(100);
  });

  it("U1: are never refused to a source with less than its share, and to every one with more beside others", () => {
    const step = fc.record({ of: fc.nat(9), isOver: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 500 }), (steps) => {
        underWay = createUnderWay({ isBusy: () => true, monotonicMs: () => 0 });
        const open = new Map<string, (() => void)[]>();
        for (const { of, isOver } of steps) {
          const source = `s${of}`;
          const own = open.get(source) ?? [];
          const sources = new Set([...open.keys(), source]).size;
          const isFull = sources > 1 && own.length >= MAX_UNDER_WAY / sources;
          expect(underWay.isFull(source)).toBe(isFull);
          if (isOver) own.pop()?.();
          else open.set(source, [...own, underWay.begin(source)]);
        }
      }),
    );
  });
});

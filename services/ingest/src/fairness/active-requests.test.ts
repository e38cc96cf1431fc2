import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { ACTIVE_MS, MAX_ACTIVE_REQUESTS } from "../limits.ts";
import { type ActiveRequests, createActiveRequests } from "./active-requests.ts";

let nowMs: number;
let isBusy: boolean;
let activeRequests: ActiveRequests;
/** Each source's recent share of the process's time. */
let recentMs: Map<string, number>;
beforeEach(() => {
  nowMs = 0;
  isBusy = true;
  recentMs = new Map();
  activeRequests = createActiveRequests({
    isBusy: () => isBusy,
    recentMs: (source) => recentMs.get(source) ?? 0,
    monotonicMs: () => nowMs,
  });
});

/** Begins as many as it may, up to so many. */
const beginAll = (source: string, most: number): number => {
  let begun = 0;
  while (begun < most && !activeRequests.isFull(source)) {
    activeRequests.begin(source);
    begun++;
  }
  return begun;
};

describe("active requests", () => {
  it("AR3: are forgotten of sources that send no more once there are thousands, and of no other", () => {
    isBusy = false;
    for (let source = 0; source < 4_200; source++) activeRequests.begin(`removed ${source}`)();
    activeRequests.begin("stays");
    nowMs = ACTIVE_MS + 1;
    activeRequests.begin("new");
    expect(activeRequests.size).toBe(2);
  });

  it("AR1: have no bound of a source that is alone", () => {
    expect(beginAll("alone", 10_000)).toBe(10_000);
  });

  it("AR1: have none while the process has time", () => {
    isBusy = false;
    activeRequests.begin("other");
    expect(beginAll("one", 10_000)).toBe(10_000);
    isBusy = true;
    expect(beginAll("one", 1)).toBe(0);
  });

  it("AR2: are shared with a source until a second after its last request", () => {
    activeRequests.begin("other")();
    expect(beginAll("one", 10_000)).toBe(MAX_ACTIVE_REQUESTS);
    nowMs = ACTIVE_MS;
    expect(beginAll("one", 1)).toBe(0);
    nowMs = ACTIVE_MS + 1;
    expect(beginAll("one", 100)).toBe(100);
  });

  it("AR1: are not refused to the source that another slows down, however many it has", () => {
    recentMs.set("slowed", 50).set("dear", 500);
    activeRequests.begin("dear");
    expect(beginAll("slowed", 1_000)).toBe(1_000);
    expect(beginAll("dear", 1_000)).toBe(MAX_ACTIVE_REQUESTS / 2 - 1);
  });

  it("AR1: are refused only to those with their share while there are too many, first to who took most time", () => {
    const step = fc.record({
      of: fc.nat(5),
      times: fc.integer({ min: 1, max: 40 }),
      isOver: fc.boolean(),
      ms: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60, size: "max" }), (steps) => {
        recentMs = new Map();
        activeRequests = createActiveRequests({
          isBusy: () => true,
          recentMs: (source) => recentMs.get(source) ?? 0,
          monotonicMs: () => 0,
        });
        const open = new Map<string, (() => void)[]>();
        for (const { of, times, isOver, ms } of steps) {
          const source = `s${of}`;
          recentMs.set(source, (recentMs.get(source) ?? 0) + ms);
          for (let time = 0; time < times; time++) {
            const own = open.get(source) ?? [];
            const counts = [...open.values()].map(({ length }) => length);
            const total = counts.reduce((sum, count) => sum + count, 0);
            const mostMs = Math.max(...[...open.keys()].map((id) => recentMs.get(id) ?? 0));
            const isDearest = (recentMs.get(source) ?? 0) >= mostMs;
            const mayBeRefused =
              total >= MAX_ACTIVE_REQUESTS &&
              isDearest &&
              counts.length > 1 &&
              own.length >= MAX_ACTIVE_REQUESTS / counts.length;
            const isRefused = activeRequests.isFull(source);
            if (isRefused) expect(mayBeRefused).toBe(true);
            // A source with the most requests has its share at the least.
            if (mayBeRefused && own.length === Math.max(...counts)) expect(isRefused).toBe(true);
            if (isOver) own.pop()?.();
            else open.set(source, [...own, activeRequests.begin(source)]);
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});

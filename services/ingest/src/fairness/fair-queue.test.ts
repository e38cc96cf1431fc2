import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFairQueue, type FairQueue } from "./fair-queue.ts";

const queueOf = (maxWaitingCost = 100): FairQueue<number> => createFairQueue({ maxWaitingCost, usualCost: 1 });
const anything = () => true;

/** Takes one, as done, at a cost that its number is. */
function serve(queue: FairQueue<number>): string | undefined {
  const taken = queue.take(anything);
  if (taken !== undefined) queue.charge(taken.flow, taken.work);
  return taken?.flow;
}

describe("the fair queue", () => {
  it("FQ1: takes the oldest of the flow that has got least far", () => {
    const queue = queueOf();
    for (const cost of [5, 5, 5]) queue.add("dear", cost);
    for (const cost of [1, 1, 1, 1, 1, 1]) queue.add("cheap", cost);
    const order = Array.from({ length: 9 }, () => serve(queue));
    expect(order).toEqual(["dear", "cheap", "cheap", "cheap", "cheap", "cheap", "dear", "cheap", "dear"]);
    expect(serve(queue)).toBeUndefined();
    expect(queue.size).toBe(0);
  });

  it("FQ1: takes what may not begin later, and what was begun first of its flow", () => {
    const queue = queueOf();
    queue.add("a", 1);
    queue.add("a", 2);
    queue.add("b", 3);
    expect(queue.take((work) => work !== 1)).toEqual({ flow: "b", work: 3 });
    const first = queue.take(anything);
    expect(first).toEqual({ flow: "a", work: 1 });
    if (first !== undefined) queue.putBack(first);
    expect(queue.take(anything)).toEqual(first);
    expect(queue.size).toBe(1);
  });

  it("FQ2: gives nothing for a pause, and holds against nobody what nobody else wanted", () => {
    const queue = queueOf();
    for (let time = 0; time < 50; time++) {
      queue.chargeWithoutWaiting("busy", 10);
    }
    for (let time = 0; time < 20; time++) for (const flow of ["busy", "new"]) queue.add(flow, 10);
    const order = Array.from({ length: 20 }, () => serve(queue));
    expect(order.filter((flow) => flow === "busy").length).toBeGreaterThanOrEqual(9);
    expect(order.filter((flow) => flow === "new").length).toBeGreaterThanOrEqual(9);
  });

  it("FQ2: gives none of those that wait more than another but for the dearest work of each", () => {
    const costs = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(costs, { minLength: 2, maxLength: 6 }), (flows) => {
        const queue = queueOf(Number.POSITIVE_INFINITY);
        const got = flows.map(() => 0);
        for (const [flow, works] of flows.entries()) for (const work of works) queue.add(String(flow), work);
        const left = flows.map((works) => works.length);
        while (left.every((count) => count > 0)) {
          const flow = Number(serve(queue));
          const work = flows[flow]?.[40 - (left[flow] ?? 0)] ?? 0;
          left[flow] = (left[flow] ?? 0) - 1;
          got[flow] = (got[flow] ?? 0) + work;
          expect(Math.max(...got) - Math.min(...got)).toBeLessThanOrEqual(120);
        }
      }),
    );
  });

  it("FQ3: never refuses a flow with less than its share, and lets one that is alone have all", () => {
    // More is added than taken, and over many steps: else the waiting work never comes near the bound.
    const step = fc.record({ flow: fc.nat(5), isTaking: fc.nat(2).map((of) => of === 0) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 150, maxLength: 400, size: "max" }), (steps) => {
        const queue = queueOf(60);
        const waiting = new Map<string, number>();
        for (const { flow: number, isTaking } of steps) {
          const flow = `f${number}`;
          const own = waiting.get(flow) ?? 0;
          const flows = new Set([...waiting.keys(), flow]).size;
          const all = [...waiting.values()].reduce((sum, count) => sum + count, 0);
          expect(queue.isFull(flow)).toBe(all >= 60 && own >= 60 / flows);
          if (isTaking) {
            const taken = queue.take(anything);
            if (taken === undefined) continue;
            const less = (waiting.get(taken.flow) ?? 0) - 1;
            if (less === 0) waiting.delete(taken.flow);
            else waiting.set(taken.flow, less);
          } else if (!queue.isFull(flow)) {
            queue.add(flow, 1);
            waiting.set(flow, own + 1);
          }
        }
        expect(queue.size).toBe([...waiting.values()].reduce((sum, count) => sum + count, 0));
      }),
    );
  });

  it("FQ3: expects of a flow's work what it cost before", () => {
    const queue = queueOf(100);
    for (let time = 0; time < 50; time++) queue.updateExpectedCost("dear", 30);
    for (let time = 0; time < 4; time++) {
      expect(queue.isFull("dear")).toBe(false);
      queue.add("dear", 30);
    }
    expect(queue.isFull("dear")).toBe(true);
    expect(queue.isFull("cheap")).toBe(false);
    while (queue.take(anything) !== undefined);
    expect(queue.isFull("dear")).toBe(false);
  });

  it("keeps nothing of flows of which nothing waits, beyond some thousands", () => {
    const queue = queueOf();
    queue.add("waits", 1);
    for (let flow = 0; flow < 20_000; flow++) queue.chargeWithoutWaiting(`f${flow}`, 0);
    expect(queue.flows).toBeLessThan(5_000);
    expect(queue.take(anything)).toEqual({ flow: "waits", work: 1 });
  });

  it("FQ2: begins a flow that comes back where the others are, however little it had before", () => {
    const queue = queueOf();
    queue.add("back", 1);
    expect(serve(queue)).toBe("back");
    for (let time = 0; time < 10; time++) queue.add("steady", 10);
    for (let time = 0; time < 10; time++) expect(serve(queue)).toBe("steady");
    for (let time = 0; time < 5; time++) for (const flow of ["back", "steady"]) queue.add(flow, 10);
    const order = Array.from({ length: 8 }, () => serve(queue));
    expect(order.filter((flow) => flow === "back").length).toBeLessThanOrEqual(5);
    expect(order.slice(2)).toContain("steady");
    expect(order.slice(0, 3)).not.toEqual(["back", "back", "back"]);
  });

  it("FQ2: charges what did not wait as well", () => {
    const queue = queueOf();
    queue.chargeWithoutWaiting("busy", 30);
    for (const flow of ["busy", "busy", "new", "new", "new", "new"]) queue.add(flow, 10);
    expect(Array.from({ length: 5 }, () => serve(queue))).toEqual(["new", "new", "new", "busy", "new"]);

    const other = queueOf();
    for (const [flow, cost] of [
      ["third", 20],
      ["busy", 30],
      ["busy", 10],
    ] as const) {
      other.chargeWithoutWaiting(flow, cost);
    }
    for (const flow of ["third", "third", "third", "busy", "busy"]) other.add(flow, 10);
    expect(Array.from({ length: 3 }, () => serve(other))).toEqual(["third", "third", "busy"]);
  });

  it("FQ3: expects of a flow's work what it cost when it did not wait", () => {
    const queue = queueOf(100);
    for (let time = 0; time < 50; time++) queue.chargeWithoutWaiting("dear", 30);
    for (let time = 0; time < 4; time++) queue.add("dear", 30);
    expect([queue.isFull("dear"), queue.isFull("cheap")]).toEqual([true, false]);
  });
});

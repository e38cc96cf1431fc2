import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { type BodyBudget, type BodyShare, createBodyBudget } from "./body-budget.ts";

const MAX = 1_000_000;
let nowMs: number;
let budget: BodyBudget;
let cut: string[];
beforeEach(() => {
  nowMs = 0;
  cut = [];
  budget = createBodyBudget({ maxBytes: MAX, monotonicMs: () => nowMs });
});

let strangers = 0;
/** A body that begins to come; one that is cut off is noted by its name. */
function open(name: string, isKnown: boolean, address = `stranger ${strangers++}`): BodyShare {
  const share = budget.open({ source: isKnown ? `source ${strangers++}` : null, address }, () => {
    cut.push(name);
    share.giveBack();
  });
  return share;
}

/** How many bodies of so many bytes are taken one after the other. */
function count(bytes: number, isKnown: boolean): number {
  let taken = 0;
  while (open("", isKnown).take(bytes)) taken++;
  return taken;
}

describe("the budget of bodies", () => {
  it("BB1: has three quarters for strangers, and the rest for senders that are known", () => {
    expect(count(16_000, false)).toBe(46);
    expect(count(16_000, true)).toBe(16);
    expect(budget.heldBytes).toBe(62 * 16_000);
  });

  it("BB1: has half for what strangers' bodies hold beyond 16 KB, and small ones find room beside them", () => {
    expect(count(200_000, false)).toBe(2);
    expect(count(16_000, false)).toBe(21);
  });

  it("BB1: has seven eighths for what bodies of known senders hold beyond it", () => {
    expect(count(200_000, true)).toBe(4);
    expect(count(100_000, true)).toBe(1);
    expect(count(70_000, true)).toBe(1);
    expect(count(20_000, true)).toBe(0);
    expect(count(16_000, true)).toBe(1);
  });

  it("BB1: counts what a body takes in pieces as if it came at once", () => {
    const body = open("", false, "one");
    for (let piece = 0; piece < 25; piece++) expect(body.take(10_000)).toBe(true);
    expect(body.take(1)).toBe(false);
    body.giveBack();
    expect(budget.heldBytes).toBe(0);
    expect(open("", false, "one").take(250_000)).toBe(true);
  });

  it("BB1: has five sixths for one source, and less than half for each of two, with room left for the next", () => {
    const one = budget.open({ source: "one", address: "" }, () => {});
    expect(one.take(833_000)).toBe(true);
    expect(one.take(1_000)).toBe(false);
    const two = budget.open({ source: "two", address: "" }, () => {});
    expect(two.take(40_000)).toBe(true);
    one.giveBack();
    while (one.take(1_000) || two.take(1_000));
    expect(budget.heldBytes).toBeLessThan((10 / 11) * MAX);
    expect(budget.open({ source: "three", address: "" }, () => {}).take(16_000)).toBe(true);
  });

  it("BB1: never refuses a source that holds less than any other what that one would be given", () => {
    const takes = fc.array(fc.record({ of: fc.nat(4), bytes: fc.integer({ min: 1, max: 16_000 }) }), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(takes, (steps) => {
        budget = createBodyBudget({ maxBytes: 300_000, monotonicMs: () => 0 });
        const held = new Map<string, number>();
        for (const { of, bytes } of steps) {
          const source = `s${of}`;
          if (budget.open({ source, address: "" }, () => {}).take(bytes)) {
            held.set(source, (held.get(source) ?? 0) + bytes);
            continue;
          }
          // A source that holds as much or more is refused as well.
          for (const [other, most] of held) {
            if (most < (held.get(source) ?? 0)) continue;
            expect(budget.open({ source: other, address: "" }, () => {}).take(bytes)).toBe(false);
          }
        }
      }),
    );
  });

  it("BB2: cuts off the slowest that the bound counts, and nothing that came a moment ago or is complete", () => {
    const [complete, slow, slower, known, other] = [
      open("complete", false, "one"),
      open("slow", false, "one"),
      open("slower", false, "one"),
      open("known", true, "one"),
      open("other", false, "other"),
    ];
    complete.take(100);
    complete.complete();
    known.take(100);
    other.take(100);
    slow.take(120_000);
    slower.take(110_000);
    nowMs = 999;
    const next = open("next", false, "one");
    expect(next.take(50_000)).toBe(false);
    expect(cut).toEqual([]);
    nowMs = 1_000;
    expect(next.take(50_000)).toBe(true);
    expect(cut).toEqual(["slower"]);
    expect(budget.heldBytes).toBe(300 + 120_000 + 50_000);
  });

  it("BB2: cuts off nothing for a body that is slower itself", () => {
    const slow = open("slow", false, "one");
    open("quick", false, "one").take(240_000);
    nowMs = 1_000;
    expect(slow.take(20_000)).toBe(false);
    expect(cut).toEqual([]);
  });

  it("BB3: cuts off a body of which less than a kilobyte came in ten seconds, of each ten anew", () => {
    open("slow", true).take(1_023);
    const quick = open("quick", true);
    quick.take(1_024);
    nowMs = 9_999;
    budget.sweep();
    expect(cut).toEqual([]);
    nowMs = 10_000;
    budget.sweep();
    budget.sweep();
    expect(cut).toEqual(["slow"]);
    quick.take(1_023);
    nowMs = 20_000;
    budget.sweep();
    expect(cut).toEqual(["slow", "quick"]);
  });

  it("BB4: is full only when it is so for everybody", () => {
    count(16_000, false);
    nowMs = 10;
    expect(budget.fullForMs()).toBe(0);
    count(16_000, true);
    nowMs = 30;
    expect(budget.fullForMs()).toBe(20);
  });

  it("BB4: is full from the first refusal until a quarter is free again, whatever comes and goes meanwhile", () => {
    const shares: BodyShare[] = [];
    for (let share = open("", true); share.take(16_000); share = open("", true)) shares.push(share);
    nowMs = 100;
    expect(budget.fullForMs()).toBe(100);
    shares.pop()?.giveBack();
    const again = open("", true);
    expect(again.take(16_000)).toBe(true);
    expect(open("", true).take(16_000)).toBe(false);
    again.giveBack();
    expect(budget.fullForMs()).toBe(100);
    while (budget.heldBytes > 768_000) shares.pop()?.giveBack();
    shares.pop()?.giveBack();
    expect([budget.heldBytes, budget.fullForMs()]).toEqual([752_000, 100]);
    shares.pop()?.giveBack();
    expect([budget.heldBytes, budget.fullForMs()]).toEqual([736_000, 0]);
    count(16_000, true);
    nowMs = 150;
    expect(budget.fullForMs()).toBe(50);
  });

  it("BB4: is full for a source that is refused alone, and not for one that is refused beside another", () => {
    const fill = () => {
      let taken = 0;
      while (budget.open({ source: "one", address: "" }, () => {}).take(16_000)) taken++;
      return taken;
    };
    const other = open("other", true);
    other.take(1);
    expect(fill()).toBe(52);
    nowMs = 10;
    expect(budget.fullForMs()).toBe(0);
    other.giveBack();
    expect(fill()).toBe(0);
    nowMs = 30;
    expect(budget.fullForMs()).toBe(20);
  });

  it("BB2: cuts off one after the other until the bytes are free, each once, of no other address or source", () => {
    for (const [name, bytes] of [
      ["first", 60_000],
      ["second", 70_000],
      ["third", 80_000],
    ] as const) {
      open(name, false, "one").take(bytes);
    }
    open("elsewhere", false, "other").take(10);
    open("known", true, "one").take(10);
    nowMs = 1_000;
    const next = open("next", false, "one");
    expect(next.take(160_000)).toBe(true);
    expect(cut).toEqual(["first", "second"]);
    expect(next.take(20_000)).toBe(true);
    expect(cut).toEqual(["first", "second", "third"]);
  });

  it("BB1: holds what its bodies do, and never more than it may, whatever happens", () => {
    const step = fc.record({
      of: fc.nat(11),
      what: fc.constantFrom("take", "take", "take", "give back", "complete", "pass"),
      bytes: fc.nat(200_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        nowMs = 0;
        budget = createBodyBudget({ maxBytes: MAX, monotonicMs: () => nowMs });
        const held = new Map<number, number>();
        const shares = Array.from({ length: 12 }, (_, index) => {
          const share = budget.open(
            { source: index % 3 === 0 ? `s${index % 2}` : null, address: String(index % 4) },
            () => {
              share.giveBack();
              held.delete(index);
            },
          );
          return share;
        });
        for (const { of, what, bytes } of steps) {
          if (what === "take" && shares[of]?.take(bytes)) held.set(of, (held.get(of) ?? 0) + bytes);
          if (what === "complete") shares[of]?.complete();
          if (what === "pass") nowMs += 700;
          if (what === "give back") {
            shares[of]?.giveBack();
            held.delete(of);
          }
          expect(budget.heldBytes).toBe([...held.values()].reduce((sum, each) => sum + each, 0));
          expect(budget.heldBytes).toBeLessThanOrEqual(MAX);
        }
      }),
    );
  });
});

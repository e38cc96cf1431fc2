import fc from "fast-check";
import { expect, it } from "vitest";
import { type LaneMember, Lanes } from "./lanes.ts";

const SEED = 0x9e3779b9;

interface Member extends LaneMember<Member> {
  readonly id: number;
}

const member = (id: number, lane: string | null): Member => ({
  id,
  lane,
  nextInLane: undefined,
  nextInBucket: undefined,
});

it("starts what has no lane at once, and a lane's members one after another (LN1, LN2)", () => {
  const lanes = new Lanes<Member>(SEED);
  const [a, b, c] = [member(1, "x"), member(2, "x"), member(3, "x")] as const;
  expect([a, b, c, member(4, null), member(5, "y")].map((each) => lanes.add(each))).toEqual([
    true,
    false,
    false,
    true,
    true,
  ]);
  expect(lanes.finish(a)).toBe(b);
  expect(lanes.finish(b)).toBe(c);
  expect(lanes.finish(c)).toBeUndefined();
});

it("finds each of very many lanes that have work at once, and each of their members (LN1, LN3)", () => {
  const lanes = new Lanes<Member>(SEED);
  const names = Array.from({ length: 5000 }, (_, lane) => `lane ${lane}`);
  const members = [0, 1, 2].map((round) => names.map((lane, at) => member(3 * at + round, lane)));
  const [first = [], second = [], third = []] = members;
  expect(first.every((each) => lanes.add(each))).toBe(true);
  expect([...second, ...third].some((each) => lanes.add(each))).toBe(false);
  expect(lanes.size).toBe(5000);
  expect(first.map((each) => lanes.finish(each))).toEqual(second);
  expect(second.map((each) => lanes.finish(each))).toEqual(third);
  expect(third.map((each) => lanes.finish(each)).every((next) => next === undefined)).toBe(true);
  expect(lanes.size).toBe(0);
  // A finished member is not found again: its lane begins again.
  expect(names.every((lane, id) => lanes.add(member(id, lane)))).toBe(true);
});

it("keeps order within every lane, holds up nothing else and forgets lanes without work", () => {
  const step = fc.record({ add: fc.boolean(), pick: fc.nat(1_000_000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1000, size: "max" }), fc.constantFrom(6, 500), (steps, laneCount) => {
      const lanes = new Lanes<Member>(SEED);
      const running: Member[] = [];
      const waiting = new Map<string, number>();
      const started = new Map<string, number[]>();
      const start = (each: Member) => {
        running.push(each);
        if (each.lane !== null) started.set(each.lane, [...(started.get(each.lane) ?? []), each.id]);
      };
      const busy = (lane: string) => running.some((each) => each.lane === lane);
      for (const [id, { add, pick }] of steps.entries()) {
        if (add) {
          const added = member(id, pick % laneCount === 0 ? null : `lane ${pick % laneCount}`);
          const mayStart = added.lane === null || !busy(added.lane);
          if (lanes.add(added) !== mayStart) return false;
          if (mayStart) start(added);
          else if (added.lane !== null) waiting.set(added.lane, (waiting.get(added.lane) ?? 0) + 1);
        } else if (running.length > 0) {
          const [done] = running.splice(pick % running.length, 1);
          if (done === undefined) continue;
          const next = lanes.finish(done);
          const queued = done.lane === null ? 0 : (waiting.get(done.lane) ?? 0);
          if ((next !== undefined) !== queued > 0) return false;
          if (next === undefined || done.lane === null) continue;
          waiting.set(done.lane, queued - 1);
          start(next);
        }
      }
      const inOrder = [...started.values()].every((ids) => ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? id)));
      const busyLanes = new Set(running.map(({ lane }) => lane).filter((lane) => lane !== null));
      return inOrder && lanes.size === busyLanes.size;
    }),
    { numRuns: 400 },
  );
});

import { expect, it } from "vitest";
import { PendingBound } from "./pending-bound.ts";

it("holds from so many bytes on, and tells every listener once when it was seen to hold and holds no more", () => {
  let pending = 99;
  const released: string[] = [];
  const bound = new PendingBound(100, () => pending);
  for (const name of ["one", "two"]) bound.onReleased(() => released.push(name));
  expect(bound.isHolding).toBe(false);
  // Nobody has seen it hold.
  bound.relieved();
  expect(released).toEqual([]);
  pending = 100;
  expect(bound.isHolding).toBe(true);
  bound.relieved();
  expect(released).toEqual([]);
  pending = 99;
  bound.relieved();
  bound.relieved();
  expect([released, bound.isHolding]).toEqual([["one", "two"], false]);
});

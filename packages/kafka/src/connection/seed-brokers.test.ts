import { expect, it } from "vitest";
import { answeringFirst, rotate } from "./seed-brokers.ts";

it("puts the brokers that answer first and keeps the order otherwise", () => {
  expect(answeringFirst(["c:3", "a:1", "b:2"], ["a:1", "b:2"])).toEqual(["a:1", "b:2", "c:3"]);
  expect(answeringFirst(["b:2", "c:3", "a:1"], ["a:1", "b:2"])).toEqual(["b:2", "a:1", "c:3"]);
});

it("keeps the whole order while none answers, and brokers that were not named do not come in", () => {
  expect(answeringFirst(["b:2", "a:1"], [])).toEqual(["b:2", "a:1"]);
  expect(answeringFirst(["b:2"], ["a:1"])).toEqual(["b:2"]);
});

it("begins with another broker for each new client, and again with the first after the last", () => {
  const brokers = ["a:1", "b:2", "c:3"];
  expect([0, 1, 2, 3].map((made) => rotate(brokers, made)[0])).toEqual(["a:1", "b:2", "c:3", "a:1"]);
  expect(rotate(brokers, 1)).toEqual(["b:2", "c:3", "a:1"]);
  expect(rotate([], 1)).toEqual([]);
});

import { expect, it } from "vitest";
import { answeringFirst } from "./seed-brokers.ts";

it("puts the brokers that answer first and keeps the order otherwise", () => {
  expect(answeringFirst(["c:3", "a:1", "b:2"], ["a:1", "b:2"])).toEqual(["a:1", "b:2", "c:3"]);
  expect(answeringFirst(["b:2", "c:3", "a:1"], ["a:1", "b:2"])).toEqual(["b:2", "a:1", "c:3"]);
});

it("keeps the whole order while none answers, and brokers that were not named do not come in", () => {
  expect(answeringFirst(["b:2", "a:1"], [])).toEqual(["b:2", "a:1"]);
  expect(answeringFirst(["b:2"], ["a:1"])).toEqual(["b:2"]);
});

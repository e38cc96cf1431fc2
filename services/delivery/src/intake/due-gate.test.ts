import { expect, it } from "vitest";
import { DueGate } from "./due-gate.ts";

it("H1: a second copy of a republished record is a repeat, the first one read again is not", () => {
  const gate = new DueGate();
  expect(gate.isRepeat("deliveries/0/7/0", "retry-10s/0/1")).toBe(false);
  expect(gate.isRepeat("deliveries/0/7/0", "retry-10s/0/1")).toBe(false);
  expect(gate.isRepeat("deliveries/0/7/0", "retry-10s/0/2")).toBe(true);
  expect(gate.isRepeat("deliveries/0/7/1", "retry-10s/0/3")).toBe(false);
});

it("H2: holds the newest republished records, and forgets the oldest", () => {
  const gate = new DueGate(10);
  for (let index = 0; index < 25; index++) gate.isRepeat(`from-${index}`, `at-${index}`);
  expect(gate.isRepeat("from-24", "elsewhere")).toBe(true);
  expect(gate.isRepeat("from-15", "elsewhere")).toBe(true);
  expect(gate.isRepeat("from-0", "elsewhere")).toBe(false);
});

/** In which order the files of a run begin. */
import { spread } from "@posthaste/tooling/test-order";
import { expect, it } from "vitest";

const CONTROL = Array.from({ length: 200 }, (_, n) => `services/control/test/${n}.test.ts`);
const UNITS = Array.from({ length: 200 }, (_, n) => `packages/core/src/${n}.test.ts`);
const BUSY = ["test/faults/brokers.test.ts", "test/e2e/secured.test.ts", "test/e2e/browser.test.ts"];

const sorted = (files: readonly string[]) => spread(files, (path) => path);

it("leaves no file out, and those that mostly wait in their order", () => {
  const order = sorted([...UNITS, ...BUSY, ...CONTROL]);
  expect([...order].sort()).toEqual([...UNITS, ...BUSY, ...CONTROL].sort());
  expect(order.filter((path) => !BUSY.includes(path))).toEqual([...UNITS, ...CONTROL]);
});

it("has the busy files begin over the run, in the order of their table, the last before its end", () => {
  const order = sorted([...CONTROL, ...[...BUSY].reverse()]);
  expect(order.filter((path) => BUSY.includes(path))).toEqual(BUSY);
  const [first, second, third] = BUSY.map((path) => order.indexOf(path));
  // 50 of their 135 seconds are the first one's, 75 the second one's.
  expect(first).toBe(0);
  expect(second).toBeGreaterThan(CONTROL.length * 0.3);
  expect(second).toBeLessThan(CONTROL.length * 0.45);
  expect(third).toBeGreaterThan(CONTROL.length * 0.75);
  expect(third).toBeLessThan(CONTROL.length * 0.9);
});

it("goes by how long the other files take: units are over in a moment", () => {
  const order = sorted([...UNITS, ...CONTROL, ...BUSY]);
  expect(order.slice(1, UNITS.length + 1)).toEqual(UNITS);
});

it("runs busy files alone as they are in the table", () => {
  expect(sorted([...BUSY].reverse())).toEqual(BUSY);
  expect(sorted([])).toEqual([]);
});

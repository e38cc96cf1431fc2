import type { EntryPlace } from "@posthaste/kafka/log/recent-entries";
import fc from "fast-check";
import { expect, it } from "vitest";
import { decodePosition, encodePosition } from "./live-position.ts";

const place = fc.record({ offset: fc.nat(Number.MAX_SAFE_INTEGER), place: fc.nat(5000) });
const position = fc
  .uniqueArray(fc.tuple(fc.nat(60), place), { selector: ([partition]) => partition, minLength: 1 })
  .map((places) => new Map<number, EntryPlace>(places));
const positions = fc
  .uniqueArray(fc.tuple(fc.constantFrom("a", "d", "h", "l", "r"), position), {
    selector: ([letter]) => letter,
    minLength: 1,
  })
  .map((all) => new Map(all));

it("an id says what it was made of", () => {
  fc.assert(
    fc.property(positions, (all) => {
      const decoded = decodePosition(encodePosition(all));
      expect(decoded).toEqual(all);
    }),
  );
});

it("an id is short: a few characters a partition", () => {
  const twelve = new Map(
    Array.from({ length: 12 }, (_, partition) => [partition, { offset: 1_000_000_000, place: 0 }]),
  );
  expect(encodePosition(new Map([["d", twelve]])).length).toBeLessThan(100);
});

it.each([
  "",
  "d",
  "d=",
  "=1",
  "d=1;",
  "D=1",
  "d=1.",
  "d=.1",
  "d=-1",
  "d=zzzzzzzzzzz",
  "d=1~",
  `d=${",".repeat(20_000)}`,
])("%j is no id", (text) => {
  expect(decodePosition(text)).toBeNull();
});

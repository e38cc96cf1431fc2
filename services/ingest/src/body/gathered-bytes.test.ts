import fc from "fast-check";
import { expect, it } from "vitest";
import { BLOCK_BYTES, GatheredBytes, KEPT_BYTES } from "./gathered-bytes.ts";

const length = fc.oneof(
  ...[3, 2 * KEPT_BYTES, 3 * BLOCK_BYTES].map((max) => fc.integer({ min: 1, max })),
  ...[KEPT_BYTES - 1, KEPT_BYTES].map((exact) => fc.constant(exact)),
);
const lengths = fc.array(length, { maxLength: 200, size: "max" });

it("GB1: has all bytes in their order, and few objects and little room beside them, however they were cut", () => {
  fc.assert(
    fc.property(lengths, (cut) => {
      const pieces = cut.map((length, index) => Buffer.alloc(length, index + 1));
      const gathered = new GatheredBytes();
      let [bytes, counted] = [0, 0];
      for (const each of pieces) {
        counted += gathered.costOf(each);
        gathered.add(each);
        bytes += each.length;
        expect(gathered.heldBytes).toBe(counted);
      }
      expect(gathered.heldBytes).toBeGreaterThanOrEqual(bytes);
      expect(gathered.heldBytes).toBeLessThanOrEqual(2.25 * bytes + BLOCK_BYTES);
      expect(gathered.parts).toBeLessThanOrEqual(6 + (2 * bytes) / KEPT_BYTES);
      expect(gathered.toBuffer().equals(Buffer.concat(pieces))).toBe(true);
    }),
  );
});

it("GB1: keeps a body that comes at once as it came", () => {
  const [gathered, whole] = [new GatheredBytes(), Buffer.from("whole")];
  gathered.add(whole);
  expect(gathered.toBuffer()).toBe(whole);
});

it("GB1: keeps later pieces of some size as they came, and counts their objects too", () => {
  const gathered = new GatheredBytes();
  for (let piece = 0; piece < 20; piece += 1) gathered.add(Buffer.alloc(1000));
  expect([gathered.parts, gathered.heldBytes > 20 * 1400]).toEqual([20, true]);
});

it("GB1: holds half a megabyte that came byte by byte in a hundred and twenty blocks", () => {
  const gathered = new GatheredBytes();
  for (let at = 0; at < 500_000; at++) gathered.add(Buffer.from([at % 251]));
  expect(gathered.parts).toBeLessThan(130);
  expect(gathered.heldBytes).toBeLessThan(505_000);
});

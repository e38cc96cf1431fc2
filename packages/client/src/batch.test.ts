import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Batch, MAX_BATCH_BYTES } from "./batch.ts";
import { MAX_CALL_BYTES } from "./message.ts";

/** A call of so many bytes. */
function callOf(bytes: number) {
  return { text: `"${"x".repeat(bytes - 2)}"`, bytes };
}

describe("Batch", () => {
  it("fills up to its limit and not a byte past it, as the body itself shows", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 100, max: MAX_CALL_BYTES }), { minLength: 1, maxLength: 60 }), (sizes) => {
        const batch = new Batch();
        for (const call of sizes.map(callOf)) {
          const before = Buffer.byteLength(batch.body(0));
          const comma = batch.texts.length === 0 ? 0 : 1;
          expect(batch.fits(call)).toBe(before + comma + call.bytes <= MAX_BATCH_BYTES);
          if (!batch.fits(call)) break;
          batch.add(call);
        }
        expect(Buffer.byteLength(batch.body(0))).toBeLessThanOrEqual(MAX_BATCH_BYTES);
      }),
      { numRuns: 30 },
    );
  });
});

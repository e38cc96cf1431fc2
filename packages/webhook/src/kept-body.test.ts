import fc from "fast-check";
import { expect, it } from "vitest";
import { KeptBody } from "./kept-body.ts";

const MOST = 1_000;

it("keeps the start of a body, in whatever pieces the body comes, and says whether it was cut", () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 20 });
  fc.assert(
    fc.property(pieces, fc.boolean(), (all, ends) => {
      const kept = new KeptBody(MOST);
      for (const piece of all) kept.add(Buffer.from(piece));
      if (ends) kept.end();
      const whole = Buffer.concat(all);
      expect(kept.bytes ?? Buffer.alloc(0)).toEqual(whole.subarray(0, MOST));
      expect([kept.arrived, kept.isCut]).toEqual([whole.length, !ends || whole.length > MOST]);
    }),
  );
});

it("holds pieces of a byte in no more memory than twice their length, and leaves what they came in alone", () => {
  const kept = new KeptBody(MOST);
  const read = Buffer.from("x".repeat(MOST));
  for (let at = 0; at < MOST; at += 1) kept.add(read.subarray(at, at + 1));
  expect(kept.bytes?.buffer.byteLength).toBeLessThanOrEqual(MOST);
  expect(read.toString()).toBe("x".repeat(MOST));
});

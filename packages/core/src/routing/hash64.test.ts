import fc from "fast-check";
import { expect, it } from "vitest";
import { hash64 } from "./hash64.ts";

const SEED = { high: 1, low: 2 };

it("says the same of the same texts, and tells where one ends and the next begins", () => {
  expect(hash64(SEED, "ab", "c")).toEqual(hash64(SEED, "ab", "c"));
  expect(hash64(SEED, "ab", "c")).not.toEqual(hash64(SEED, "a", "bc"));
  expect(hash64(SEED, "a", "")).not.toEqual(hash64(SEED, "", "a"));
});

it("keeps a hundred thousand similar ids apart, in each half nearly as well as chance would", () => {
  const all = new Set<string>();
  const high = new Set<number>();
  const low = new Set<number>();
  for (let index = 0; index < 100_000; index++) {
    const hash = hash64(SEED, "src_1", `node-next-17000000${index}-00000000-0000-4000-8000-${index}`);
    all.add(`${hash.high}:${hash.low}`);
    high.add(hash.high);
    low.add(hash.low);
  }
  // Chance makes 1.2 collisions among so many values of 32 bits.
  expect(all.size).toBe(100_000);
  expect(high.size).toBeGreaterThan(99_980);
  expect(low.size).toBeGreaterThan(99_980);
});

it("changes about half of its bits with any one bit of the text", () => {
  let flipped = 0;
  let samples = 0;
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40 }), fc.nat(), fc.nat(6), (text, place, bit) => {
      const at = place % text.length;
      const other = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << bit)) + text.slice(at + 1);
      const [a, b] = [hash64(SEED, text), hash64(SEED, other)];
      flipped += ones(a.high ^ b.high) + ones(a.low ^ b.low);
      samples += 1;
    }),
    { numRuns: 2000 },
  );
  expect(flipped / samples).toBeGreaterThan(28);
  expect(flipped / samples).toBeLessThan(36);
});

it("two texts that meet under one seed do not meet under another", () => {
  // Units that differ in their highest bit alone leave the lower fifteen bits of both halves as they are: among a
  // million texts of this form several have one hash.
  const [one, other] = ["01000111001000110011", "10100000100001101010"].map((bits) =>
    bits.replaceAll("0", "a").replaceAll("1", "\u8061"),
  ) as [string, string];
  const unseeded = { high: 0, low: 0 };
  expect(hash64(unseeded, "src_1", one)).toEqual(hash64(unseeded, "src_1", other));
  for (const seed of [
    { high: 1, low: 0 },
    { high: 0, low: 1 },
    { high: 0x5bd1e995, low: 0xc2b2ae35 },
  ]) {
    expect(hash64(seed, "src_1", one)).not.toEqual(hash64(seed, "src_1", other));
  }
});

function ones(value: number): number {
  return (value >>> 0).toString(2).replaceAll("0", "").length;
}

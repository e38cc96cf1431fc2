/**
 * A seeded 64-bit hash of text, as two halves of 32 bits, for sets of ids. An attacker with the seed finds two texts of
 * one hash within a second, so ids that callers choose are hashed under a secret seed of the process.
 */

export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

/** Hashes the texts in their order. Where one text ends and the next begins counts. */
export function hash64(seed: Hash64, ...texts: readonly string[]): Hash64 {
  let high = 0x9e3779b9 ^ seed.high;
  let low = 0x85ebca6b ^ seed.low;
  for (const text of texts) {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      high = Math.imul(high ^ unit, 0x9e3779b1);
      low = Math.imul(low ^ unit, 0x5f356495);
    }
    // No code unit is this large, so ["a", "b"] and ["ab"] differ.
    high = Math.imul(high ^ 0x10000, 0x9e3779b1);
    low = Math.imul(low ^ 0x10000, 0x5f356495);
  }
  // The halves are mixed into one another, since the low bits of a product depend on the low bits of its factors alone.
  high = mix(high ^ (low >>> 15), low);
  low = mix(low ^ (high >>> 13), high);
  return { high: high >>> 0, low: low >>> 0 };
}

function mix(value: number, other: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15) ^ other, 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}

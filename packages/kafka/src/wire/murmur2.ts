/** Kafka's default hash, which chooses a key's partition, so that all clients of a topic agree on it. */

const SEED = 0x9747b28c;
const MULTIPLIER = 0x5bd1e995;

/** Returns murmur2 of the bytes as a signed 32-bit number. */
export function murmur2(bytes: Uint8Array): number {
  const { length } = bytes;
  let hash = SEED ^ length;
  const whole = length - (length % 4);
  for (let i = 0; i < whole; i += 4) {
    let word =
      byteAt(bytes, i) | (byteAt(bytes, i + 1) << 8) | (byteAt(bytes, i + 2) << 16) | (byteAt(bytes, i + 3) << 24);
    word = Math.imul(word, MULTIPLIER);
    word = Math.imul(word ^ (word >>> 24), MULTIPLIER);
    hash = Math.imul(hash, MULTIPLIER) ^ word;
  }
  const rest = length - whole;
  if (rest > 0) {
    if (rest > 2) hash ^= byteAt(bytes, whole + 2) << 16;
    if (rest > 1) hash ^= byteAt(bytes, whole + 1) << 8;
    hash = Math.imul(hash ^ byteAt(bytes, whole), MULTIPLIER);
  }
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER);
  return hash ^ (hash >>> 15);
}

/** Returns the partition of a key, out of `count` partitions. */
export function partitionOf(key: Uint8Array, count: number): number {
  return (murmur2(key) & 0x7fffffff) % count;
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

import fc from "fast-check";
import kafkajs from "kafkajs";
import { describe, expect, it } from "vitest";
import { murmur2, partitionOf } from "./murmur2.ts";

describe("murmur2", () => {
  it("answers what Kafka's own clients answer", () => {
    // Values that Kafka's Java client gives for the same bytes.
    const known: readonly [string, number][] = [
      ["21", -973932308],
      ["foobar", -790332482],
      ["a-little-bit-long-string", -985981536],
      ["a-little-bit-longer-string", -1486304829],
      ["lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971],
    ];
    for (const [text, hash] of known) expect(murmur2(Buffer.from(text))).toBe(hash);
  });

  it("chooses the partition that kafkajs's default partitioner chooses, for every key and count", () => {
    const choose = kafkajs.Partitioners.DefaultPartitioner();
    const property = fc.property(fc.uint8Array({ maxLength: 64 }), fc.integer({ min: 1, max: 200 }), (bytes, count) => {
      const key = Buffer.from(bytes);
      const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
        partitionId,
        leader: 0,
        partitionErrorCode: 0,
        replicas: [],
        isr: [],
      }));
      // kafkajs takes an empty key for a missing one.
      if (key.length === 0) return;
      expect(partitionOf(key, count)).toBe(choose({ topic: "t", partitionMetadata, message: { key, value: null } }));
    });
    fc.assert(property);
  });
});

import { gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decompressRecords } from "./decompress.ts";
import { decompressLz4 } from "./lz4.ts";
import { decompressSnappy } from "./snappy.ts";

const LZ4_FRAME = Buffer.from("04224d186040", "hex");
const PLAIN = Buffer.from("ab".repeat(50));

/** One frame of one block, without checksums. */
function lz4Frame(block: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(block.length);
  return Buffer.concat([LZ4_FRAME, Buffer.of(0), size, block, Buffer.alloc(4)]);
}

describe("what a batch holds", () => {
  it("is not looked at where it is not compressed", () => {
    expect(decompressRecords(PLAIN, { attributes: 0x28, firstOffset: "1" })).toBeNull();
  });

  it.each([
    [1, gzipSync(PLAIN)],
    // A literal of two bytes, then copies of the bytes two before.
    [2, Buffer.from([100, 0x04, 97, 98, 0xfe, 2, 0, 0x86, 2, 0])],
    // Two literals, then 98 bytes from two before: 4, 15 of the token, 79 more; an empty sequence ends the block.
    [3, lz4Frame(Buffer.from([0x2f, 97, 98, 2, 0, 79, 0]))],
    [4, zstdCompressSync(PLAIN)],
  ])("is read by codec %s", async (codec, bytes) => {
    expect(String(await decompressRecords(bytes, { attributes: 0x20 | codec, firstOffset: "1" }))).toBe(String(PLAIN));
  });

  it("of an unknown codec, or of bytes that are not the codec's, is refused for good, by its place", async () => {
    const unknown = decompressRecords(PLAIN, { attributes: 5, firstOffset: "41" });
    await expect(unknown).rejects.toMatchObject({
      message: "the batch at offset 41 is compressed by codec 5, which this version does not know",
      retriable: false,
    });
    for (const codec of [1, 2, 3, 4]) {
      const broken = decompressRecords(Buffer.from("no batch"), { attributes: codec, firstOffset: "41" });
      await expect(broken).rejects.toMatchObject({ code: "internal", retriable: false });
    }
  });

  it.each([
    ["lz4", decompressLz4, lz4Frame(Buffer.from([0x2f, 97, 98, 2, 0, 79, 0]))],
    ["snappy", decompressSnappy, Buffer.from([100, 0x04, 97, 98, 0xfe, 2, 0, 0x86, 2, 0])],
  ] as const)("of %s with any byte changed or cut off is read or refused, within its bound", (_, decompress, whole) => {
    const change = fc.record({ at: fc.nat(whole.length - 1), to: fc.nat(255), length: fc.nat(whole.length) });
    fc.assert(
      fc.property(change, fc.boolean(), ({ at, to, length }, isCut) => {
        const bytes = Buffer.from(isCut ? whole.subarray(0, length) : whole);
        if (at < bytes.length) bytes[at] = to;
        try {
          expect(decompress(bytes, 1000).length).toBeLessThanOrEqual(1000);
        } catch (error) {
          expect(error).toMatchObject({ code: "invalid_input" });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("of lz4 ends at its bound, over several blocks too", () => {
    const block = Buffer.alloc(40_000);
    const size = Buffer.alloc(4);
    size.writeUInt32LE((0x8000_0000 | block.length) >>> 0);
    const blocks = [size, block, size, block, size, block];
    const frame = Buffer.concat([LZ4_FRAME, Buffer.of(0), ...blocks, Buffer.alloc(4)]);
    expect(decompressLz4(frame, 120_000)).toHaveLength(120_000);
    expect(() => decompressLz4(frame, 119_999)).toThrow("it holds too much");
  });
});

/**
 * Reads LZ4 frames, for which Node has no reader. The reader passes over checksums: TCP and Kafka's log have their own.
 * Format: github.com/lz4/lz4, doc/lz4_Frame_format.md and lz4_Block_format.md.
 */
import { PosthasteError } from "@posthaste/core/errors";

const MAGIC = 0x184d2204;
const HAS_DICTIONARY = 0x01;
const HAS_CONTENT_CHECKSUM = 0x04;
const HAS_CONTENT_SIZE = 0x08;
const HAS_BLOCK_CHECKSUM = 0x10;
const VERSION_MASK = 0xc0;
const VERSION_1 = 0x40;
const IS_UNCOMPRESSED = 0x8000_0000;
const SHORTEST_MATCH = 4;
const LONG = 15;

/**
 * Returns the frame's content. Throws `invalid_input` for bytes that are no frame, or that hold more than `maxBytes`.
 */
export function decompressLz4(frame: Buffer, maxBytes: number): Buffer {
  if (frame.length < 7 || frame.readUInt32LE(0) !== MAGIC) throw broken("no frame");
  const flags = frame.readUInt8(4);
  if ((flags & VERSION_MASK) !== VERSION_1 || (flags & HAS_DICTIONARY) !== 0) throw broken("a frame of another kind");
  const blockBytes = largestBlock(frame.readUInt8(5));
  let at = 6 + ((flags & HAS_CONTENT_SIZE) === 0 ? 0 : 8) + 1;
  let out: Buffer = Buffer.allocUnsafe(Math.min(maxBytes, blockBytes));
  let length = 0;
  for (;;) {
    if (at + 4 > frame.length) throw broken("it ends early");
    const size = frame.readUInt32LE(at);
    at += 4;
    if (size === 0) break;
    const end = at + (size & ~IS_UNCOMPRESSED);
    if (end > frame.length) throw broken("it ends early");
    out = withCapacity(out, length, { wanted: length + blockBytes, maxBytes });
    // A block may refer to those before it, so all of them stand in one buffer.
    length =
      (size & IS_UNCOMPRESSED) === 0
        ? readBlock(frame.subarray(at, end), out, length)
        : copyBlock(frame.subarray(at, end), out, length);
    at = end + ((flags & HAS_BLOCK_CHECKSUM) === 0 ? 0 : 4);
  }
  at += (flags & HAS_CONTENT_CHECKSUM) === 0 ? 0 : 4;
  if (at !== frame.length) throw broken("something stands behind it");
  return out.subarray(0, length);
}

/** Returns the size of the largest block by the frame's descriptor: 64 KB, 256 KB, 1 MB or 4 MB. */
function largestBlock(descriptor: number): number {
  const code = (descriptor >> 4) & 7;
  if (code < 4) throw broken("a block size of another kind");
  return 1 << (8 + 2 * code);
}

function withCapacity(
  out: Buffer,
  length: number,
  capacity: { readonly wanted: number; readonly maxBytes: number },
): Buffer {
  if (out.length >= Math.min(capacity.wanted, capacity.maxBytes)) return out;
  const larger = Buffer.allocUnsafe(Math.min(capacity.maxBytes, Math.max(capacity.wanted, out.length * 2)));
  out.copy(larger, 0, 0, length);
  return larger;
}

function copyBlock(block: Buffer, out: Buffer, to: number): number {
  if (to + block.length > out.length) throw broken("it holds too much");
  block.copy(out, to);
  return to + block.length;
}

/** Decompresses a block into `out` from `start` on. Returns where its content ends in `out`. */
function readBlock(block: Buffer, out: Buffer, start: number): number {
  let at = 0;
  let to = start;
  /** Reads a length, which goes on for as long as its bytes are 255. */
  const readLength = (short: number): number => {
    let length = short;
    if (short < LONG) return length;
    let byte = 255;
    while (byte === 255) {
      byte = block[at++] ?? -1;
      if (byte < 0) throw broken("it ends early");
      length += byte;
    }
    return length;
  };
  while (at < block.length) {
    const token = block[at++] ?? 0;
    const literals = readLength(token >> 4);
    if (at + literals > block.length) throw broken("it ends early");
    if (to + literals > out.length) throw broken("it holds too much");
    block.copy(out, to, at, at + literals);
    at += literals;
    to += literals;
    // The last sequence consists of literals alone.
    if (at === block.length) return to;
    if (at + 2 > block.length) throw broken("it ends early");
    const distance = block.readUInt16LE(at);
    at += 2;
    const length = readLength(token & LONG) + SHORTEST_MATCH;
    if (distance === 0 || distance > to) throw broken("it refers to what is not there");
    if (to + length > out.length) throw broken("it holds too much");
    to = repeat(out, to, distance, length);
  }
  return to;
}

/** Copies the bytes that begin `distance` before `to`. They may overlap the bytes that are being written. */
export function repeat(out: Buffer, to: number, distance: number, length: number): number {
  if (distance >= length) out.copyWithin(to, to - distance, to - distance + length);
  else for (let index = 0; index < length; index += 1) out[to + index] = out[to + index - distance] ?? 0;
  return to + length;
}

function broken(how: string): PosthasteError {
  return new PosthasteError("invalid_input", `lz4: ${how}`);
}

/**
 * Reads Snappy, for which Node has no reader: bare, and in the chunks of xerial's snappy-java, which Kafka writes.
 * Format: github.com/google/snappy, format_description.txt.
 */
import { PosthasteError } from "@posthaste/core/errors";
import { repeat } from "./lz4.ts";

const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
/** Bytes of xerial's magic, of its version and of the oldest version that can read it. */
const XERIAL_HEADER_BYTES = 16;
const LITERAL = 0;
const NEAR_COPY = 1;
const COPY = 2;
/**
 * A literal's tag holds its length up to this number. From here on, the tag says how many bytes after it hold the
 * length.
 */
const LONG_LITERAL = 60;

/** Returns the content. Throws `invalid_input` for bytes that are not Snappy's, or that hold more than `maxBytes`. */
export function decompressSnappy(bytes: Buffer, maxBytes: number): Buffer {
  if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return readBare(bytes, maxBytes);
  const chunks: Buffer[] = [];
  let length = 0;
  for (let at = XERIAL_HEADER_BYTES; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw broken("it ends early");
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw broken("it ends early");
    const chunk = readBare(bytes.subarray(at + 4, end), maxBytes - length);
    chunks.push(chunk);
    length += chunk.length;
    at = end;
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
}

function readBare(bytes: Buffer, maxBytes: number): Buffer {
  const { length, start } = readSize(bytes);
  if (length > maxBytes) throw broken("it holds too much");
  const out = Buffer.allocUnsafe(length);
  let at = start;
  let to = 0;
  /** Reads a number of so many bytes, the lowest byte first. */
  const read = (count: number): number => {
    if (at + count > bytes.length) throw broken("it ends early");
    const value = bytes.readUIntLE(at, count);
    at += count;
    return value;
  };
  while (at < bytes.length) {
    const tag = read(1);
    const kind = tag & 3;
    const upper = tag >> 2;
    if (kind === LITERAL) {
      const size = (upper < LONG_LITERAL ? upper : read(upper - LONG_LITERAL + 1)) + 1;
      if (at + size > bytes.length) throw broken("it ends early");
      if (to + size > length) throw broken("it holds more than it says");
      bytes.copy(out, to, at, at + size);
      at += size;
      to += size;
      continue;
    }
    const size = kind === NEAR_COPY ? (upper & 7) + 4 : upper + 1;
    const distance = kind === NEAR_COPY ? ((tag >> 5) << 8) | read(1) : read(kind === COPY ? 2 : 4);
    if (distance === 0 || distance > to) throw broken("it refers to what is not there");
    if (to + size > length) throw broken("it holds more than it says");
    to = repeat(out, to, distance, size);
  }
  if (to !== length) throw broken("it holds less than it says");
  return out;
}

/** Reads the content's length: seven bits a byte, the lowest first. */
function readSize(bytes: Buffer): { readonly length: number; readonly start: number } {
  let length = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[index];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { length, start: index + 1 };
  }
  throw broken("it has no length");
}

function broken(how: string): PosthasteError {
  return new PosthasteError("invalid_input", `snappy: ${how}`);
}

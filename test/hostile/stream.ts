/**
 * A stream of bytes as a stranger sends it, by the choices that make it: how it is cut, headed, chunked, compressed,
 * repeated and left. Pure; the timing is the player's.
 */
import { gzipSync } from "node:zlib";
import fc from "fast-check";

export interface Stream {
  /** Which of the door's heads its messages begin with; beyond their number it begins anew. */
  readonly head: number;
  readonly connections: number;
  readonly framing: "length" | "chunked";
  /** Bytes of a chunk. */
  readonly pieceBytes: number;
  /** Bytes of each chunk's extension. */
  readonly extensionBytes: number;
  readonly headerLines: number;
  readonly headerBytes: number;
  /** Messages before the one whose head is `head`, such as interim answers; a server takes them for no request. */
  readonly interim: number;
  readonly bodyBytes: number;
  readonly filler: "letters" | "braces" | "json" | "gzip";
  readonly trailerLines: number;
  /** Messages on a connection; with more than one they are sent without waiting. */
  readonly messages: number;
  /** Whether the last message comes to its end. */
  readonly ends: boolean;
  /** How answers are read. */
  readonly reads: "at once" | "slowly" | "never";
  /** Bytes that are written at once. */
  readonly writeBytes: number;
  /** How many ms lie between two writes of a connection. */
  readonly pauseMs: number;
  /** After how many ms a connection is left for a new one. */
  readonly leavesAfterMs: number;
}

const among = fc.constantFrom;

export const GENES: { readonly [Gene in keyof Stream]: fc.Arbitrary<Stream[Gene]> } = {
  head: fc.nat(30),
  connections: among(1, 8, 28, 64, 64),
  framing: among("length", "chunked", "chunked"),
  pieceBytes: among(1, 1, 2, 7, 64, 128, 500, 60_000),
  extensionBytes: among(0, 0, 0, 1, 30, 400, 15_000),
  headerLines: among(0, 0, 10, 100, 1_000),
  headerBytes: among(1, 10, 100),
  interim: among(0, 0, 0, 1, 1_000, 1_000_000),
  bodyBytes: among(0, 100, 4_096, 33_000, 511_000, 5_000_000, 1_000_000_000),
  filler: among("letters", "braces", "json", "gzip"),
  trailerLines: among(0, 0, 10, 500, 1_000_000, 1_000_000),
  messages: among(1, 1, 2, 16, 17, 100, 100_000),
  ends: fc.boolean(),
  reads: among("at once", "slowly", "never"),
  writeBytes: among(1, 1_500, 16_000, 65_000, 65_000),
  pauseMs: among(0, 0, 0, 0, 1, 20),
  leavesAfterMs: among(5, 100, 1_000, 60_000),
};

export const streams: fc.Arbitrary<Stream> = fc.record(GENES);

/** The message of an honest sender. One that differs from it in few choices has none that hides another. */
export const ORDINARY: Stream = {
  ...{ head: 0, connections: 28, framing: "chunked", pieceBytes: 60_000, extensionBytes: 0, headerLines: 0 },
  ...{ headerBytes: 10, interim: 0, bodyBytes: 33_000, filler: "letters", trailerLines: 0, messages: 1, ends: true },
  ...{ reads: "at once", writeBytes: 65_000, pauseMs: 0, leavesAfterMs: 60_000 },
};

const GZIP_OF_BRACES = gzipSync(`{"batch":[${"{},".repeat(160_000)}{}]}`);

/** About the bytes of a chunk beside its content. */
const CHUNK_BYTES = 5;
/** Without chunks a body is cut by `writeBytes` alone. */
const LARGEST_PIECE_BYTES = 60_000;

/** The bytes of one connection, in the pieces that are written at once. */
export function* bytesOf(stream: Stream, heads: readonly string[]): Generator<Buffer> {
  let pending: Buffer[] = [];
  let bytes = 0;
  for (const part of parts(stream, heads)) {
    pending.push(part);
    bytes += part.length;
    if (bytes < stream.writeBytes) continue;
    let joined = Buffer.concat(pending);
    for (; joined.length >= stream.writeBytes; joined = joined.subarray(stream.writeBytes)) {
      yield joined.subarray(0, stream.writeBytes);
    }
    pending = [joined];
    bytes = joined.length;
  }
  yield Buffer.concat(pending);
}

function* parts(stream: Stream, heads: readonly string[]): Generator<Buffer> {
  const head = heads[stream.head % heads.length] ?? "";
  const whole = stream.ends ? stream.messages : stream.messages - 1;
  yield* repeated(() => messageOf(stream, head, true), whole);
  if (!stream.ends) yield* messageOf(stream, head, false);
}

/** Parts are put together up to about so many bytes: one by one, small parts come no faster than they are made. */
const BLOCK_BYTES = 64 * 1024;

/** The same parts so many times, small ones in blocks. */
function* repeated(partsOf: () => Iterable<Buffer>, times: number): Generator<Buffer> {
  if (times <= 0) return;
  const one: Buffer[] = [];
  let bytes = 0;
  for (const part of partsOf()) {
    one.push(part);
    bytes += part.length;
    if (bytes < BLOCK_BYTES) continue;
    for (let time = 0; time < times; time++) yield* partsOf();
    return;
  }
  const ofBlock = Math.min(times, Math.ceil(BLOCK_BYTES / Math.max(1, bytes)));
  const single = Buffer.concat(one);
  const block = Buffer.alloc(ofBlock * bytes, single);
  for (let time = 0; time + ofBlock <= times; time += ofBlock) yield block;
  yield block.subarray(0, (times % ofBlock) * bytes);
}

function* messageOf(stream: Stream, head: string, ends: boolean): Generator<Buffer> {
  const interim = Buffer.from("HTTP/1.1 103 Early Hints\r\n\r\n");
  if (head.startsWith("HTTP")) yield* repeated(() => [interim], stream.interim);
  yield Buffer.from(headOf(stream, head));
  yield* bodyOf(stream, ends);
}

function headOf({ framing, bodyBytes, headerLines, headerBytes, filler }: Stream, head: string): string {
  const more = Array.from({ length: headerLines }, (_, at) => `x-${at}: ${"h".repeat(headerBytes)}`);
  const frame = framing === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${lengthOf(filler, bodyBytes)}`;
  const encoding = filler === "gzip" ? ["Content-Encoding: gzip"] : [];
  return [head, frame, ...encoding, ...more, "", ""].join("\r\n");
}

function lengthOf(filler: Stream["filler"], bodyBytes: number): number {
  return filler === "gzip" ? Math.min(bodyBytes, GZIP_OF_BRACES.length) : bodyBytes;
}

function* bodyOf(stream: Stream, ends: boolean): Generator<Buffer> {
  const { framing, filler, trailerLines } = stream;
  const total = lengthOf(filler, stream.bodyBytes);
  // One that does not end stops a byte before its end.
  const last = ends ? total : Math.max(0, total - 1);
  if (framing === "length") {
    for (let at = 0; at < last; at += LARGEST_PIECE_BYTES) {
      yield contentOf(filler, at, Math.min(LARGEST_PIECE_BYTES, last - at));
    }
    return;
  }
  yield* chunksOf(stream, last);
  if (!ends) return;
  yield Buffer.from("0\r\n");
  yield* repeated(() => [Buffer.from("t: x\r\n")], trailerLines);
  yield Buffer.from("\r\n");
}

/** Chunks of a text that begins anew with each block. */
function* chunksOf({ pieceBytes, extensionBytes, filler }: Stream, bytes: number): Generator<Buffer> {
  const extension = extensionBytes === 0 ? "" : `;e=${"x".repeat(extensionBytes)}`;
  const chunkOf = (at: number) => {
    const piece = contentOf(filler, at, Math.min(pieceBytes, bytes - at));
    return [Buffer.from(`${piece.length.toString(16)}${extension}\r\n`), piece, Buffer.from("\r\n")];
  };
  const ofBlock = filler === "gzip" ? 1 : Math.ceil(BLOCK_BYTES / (pieceBytes + extensionBytes + CHUNK_BYTES));
  let at = 0;
  if (ofBlock > 1 && ofBlock * pieceBytes <= bytes) {
    const block = Buffer.concat(Array.from({ length: ofBlock }, (_, index) => chunkOf(index * pieceBytes)).flat());
    for (; at + ofBlock * pieceBytes <= bytes; at += ofBlock * pieceBytes) yield block;
  }
  for (; at < bytes; at += pieceBytes) yield* chunkOf(at);
}

const CALL = `{"type":"track","userId":"u","event":"E"},`;
const REPEATED = {
  letters: Buffer.alloc(120_000, "x"),
  braces: Buffer.alloc(120_000, `{"a":`),
  json: Buffer.from(CALL.repeat(3_000)),
};

function contentOf(filler: Stream["filler"], at: number, length: number): Buffer {
  if (filler === "gzip") return GZIP_OF_BRACES.subarray(at, at + length);
  const text = REPEATED[filler];
  const from = at % (text.length / 2);
  return text.subarray(from, from + length);
}

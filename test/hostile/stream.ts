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
  framing: among("length", "chunked"),
  pieceBytes: among(1, 2, 7, 64, 128, 500, 60_000),
  extensionBytes: among(0, 0, 0, 1, 30, 400, 15_000),
  headerLines: among(0, 0, 10, 100, 1_000),
  headerBytes: among(1, 10, 100),
  interim: among(0, 0, 0, 1, 1_000),
  bodyBytes: among(0, 100, 4_096, 33_000, 511_000, 5_000_000, 1_000_000_000),
  filler: among("letters", "braces", "json", "gzip"),
  trailerLines: among(0, 0, 10, 500),
  messages: among(1, 1, 2, 16, 17, 100, 100_000),
  ends: fc.boolean(),
  reads: among("at once", "slowly", "never"),
  writeBytes: among(1, 1_500, 16_000, 65_000),
  pauseMs: among(0, 0, 0, 1, 20),
  leavesAfterMs: among(5, 100, 1_000, 60_000),
};

export const streams: fc.Arbitrary<Stream> = fc.record(GENES);

const GZIP_OF_BRACES = gzipSync(`{"batch":[${"{},".repeat(160_000)}{}]}`);

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
  for (let message = 1; message <= stream.messages; message++) {
    const interim = Buffer.from("HTTP/1.1 103 Early Hints\r\n\r\n");
    if (head.startsWith("HTTP")) for (let time = 0; time < stream.interim; time++) yield interim;
    yield Buffer.from(headOf(stream, head));
    yield* bodyOf(stream, stream.ends || message < stream.messages);
  }
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
  const { framing, extensionBytes, filler, trailerLines } = stream;
  const pieceBytes = framing === "chunked" ? stream.pieceBytes : LARGEST_PIECE_BYTES;
  const total = lengthOf(filler, stream.bodyBytes);
  // One that does not end stops a byte before its end.
  const last = ends ? total : Math.max(0, total - 1);
  const extension = extensionBytes === 0 ? "" : `;e=${"x".repeat(extensionBytes)}`;
  for (let at = 0; at < last; at += pieceBytes) {
    const piece = contentOf(filler, at, Math.min(pieceBytes, last - at));
    if (framing === "length") yield piece;
    else yield Buffer.concat([Buffer.from(`${piece.length.toString(16)}${extension}\r\n`), piece, Buffer.from("\r\n")]);
  }
  if (framing === "chunked" && ends) yield Buffer.from(`0\r\n${"t: x\r\n".repeat(trailerLines)}\r\n`);
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

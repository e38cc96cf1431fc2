/**
 * The content encodings of a request's body. Decompression stops at a limit, so that a bomb costs no more than an
 * honest body.
 */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { malformed, type Refusal, SAYS_TOO_MUCH, tooLarge, unauthorized, unavailable } from "../answer/answer.ts";
import { CROWD_INFLATED_BYTES, MAX_REQUEST_BYTES } from "../limits.ts";
import { mostOfBrotli } from "./inflated-body.ts";
import type { SentBody } from "./sent-body.ts";

/**
 * A body is inflated in one piece where possible, since 16 KB at a time cost a quarter more, and pieces must be joined.
 * Gzip says at its end how long the content is; most others are a few times their size.
 */
const PIECE_TIMES = 4;
const LEAST_PIECE_BYTES = 16 * 1024;

export const CONTENT_ENCODINGS = ["identity", "gzip", "deflate", "br"] as const;

export function requestTooLarge(): Refusal {
  return tooLarge(
    "request_too_large",
    `The request's body is over ${MAX_REQUEST_BYTES} bytes after decompression; send smaller batches.`,
  );
}

/** A body's content after decompression, or why there is none. */
export type OpenedBody = { readonly content: Buffer } | { readonly refusal: Refusal };

/** The refusal that nobody hears: the sender has left. */
export const GONE = malformed("malformed_request", "The sender of the request is gone.");

/** Opens bodies. */
export interface BodyOpener {
  /** The content of a body as its sender wrote it. No other place inflates bodies. */
  open(body: SentBody): OpenedBody;
  /**
   * The content of a body that has to be searched for a key. Brotli is not inflated for that: its decoder works for
   * milliseconds before its first byte, whatever the limit, and no known client sends it. For an address that is a
   * crowd less is inflated, and the sender of a larger body is asked to send it again, since the key may be in the
   * rest.
   */
  openForKey(body: SentBody, isOfCrowd?: boolean): OpenedBody;
}

const KEY_IN_COMPRESSED_BODY = unauthorized(
  "missing_write_key",
  `Send the source's write key as the user name of Basic authentication: in a compressed body it is looked for only where that is gzip or deflate of at most ${MAX_REQUEST_BYTES} bytes.`,
);

const CROWD_SENDS_AGAIN = unavailable(
  "unavailable",
  `More bodies come from this address than can be looked into for their keys; send again, or with the write key as the user name of Basic authentication.`,
);

/**
 * Opens bodies. A body that was searched for its key is worked on a moment later, so the last content that was inflated
 * is kept until its body is opened again: at most one content, of `MAX_REQUEST_BYTES`.
 */
export function createBodyOpener(): BodyOpener {
  let last: { readonly body: SentBody; readonly opened: OpenedBody } | undefined;
  /** `maxBytes`: the most bytes of the content; 0 refuses without inflating. */
  const open = (body: SentBody, tooMuch: Refusal, maxBytes: number): OpenedBody => {
    const { bytes, encoding } = body;
    if (bytes === null) return { refusal: GONE };
    if (last?.body === body) {
      const { opened } = last;
      last = undefined;
      return opened;
    }
    const content = maxBytes > 0 ? decompress(bytes, encodingOf(encoding), maxBytes) : "too much";
    if (content === bytes) return { content: bytes };
    const opened = Buffer.isBuffer(content) ? { content } : { refusal: content === "too much" ? tooMuch : content };
    last = { body, opened };
    return opened;
  };

  return {
    open: (body) => {
      const most = encodingOf(body.encoding) === "br" ? mostOfBrotli(body.bytes?.length ?? 0) : MAX_REQUEST_BYTES;
      if (most < MAX_REQUEST_BYTES) return open(body, SAYS_TOO_MUCH, most);
      return open(body, requestTooLarge(), MAX_REQUEST_BYTES);
    },
    openForKey: (body, isOfCrowd = false) => {
      if (encodingOf(body.encoding) === "br") return open(body, KEY_IN_COMPRESSED_BODY, 0);
      return isOfCrowd
        ? open(body, CROWD_SENDS_AGAIN, CROWD_INFLATED_BYTES)
        : open(body, KEY_IN_COMPRESSED_BODY, MAX_REQUEST_BYTES);
    },
  };
}

function encodingOf(encoding: string | undefined): string {
  return encoding?.trim().toLowerCase() ?? "";
}

/**
 * The body as its sender wrote it, or the refusal. It is synchronous: 500 KB take less time than the way to a thread
 * and back.
 */
function decompress(body: Buffer, encoding: string, maxBytes: number): Buffer | Refusal | "too much" {
  const piece = Math.max(
    LEAST_PIECE_BYTES,
    PIECE_TIMES * body.length,
    encoding.endsWith("gzip") ? lengthSaid(body) : 0,
  );
  const limit = { maxOutputLength: maxBytes, chunkSize: Math.min(maxBytes, piece) };
  try {
    switch (encoding) {
      case "":
      case "identity":
        return body;
      case "gzip":
      case "x-gzip":
        return gunzipSync(body, limit);
      case "deflate":
        return hasZlibHeader(body) ? inflateSync(body, limit) : inflateRawSync(body, limit);
      case "br":
        return brotliDecompressSync(body, limit);
      default:
        return malformed(
          "unsupported_encoding",
          `Content-Encoding must be one of ${CONTENT_ENCODINGS.join(", ")}.`,
          415,
        );
    }
  } catch (error) {
    if (error instanceof RangeError) return "too much";
    return malformed("invalid_compression", "The body is not what its Content-Encoding says.");
  }
}

/**
 * One byte more than the length that gzip names at its end. The sender may have written any number there: it is a hint
 * and no bound.
 */
function lengthSaid(gzip: Buffer): number {
  return gzip.length < 4 ? 0 : gzip.readUInt32LE(gzip.length - 4) + 1;
}

/** Whether there is a zlib header: deflate has one by the standard, and some clients leave it out. */
function hasZlibHeader(body: Buffer): boolean {
  return ((body[0] ?? 0) & 0x0f) === 8;
}

/**
 * Content encodings of a request's body. Decompression stops at the limit, so a bomb costs no more than an honest body.
 */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { malformed, type Refusal, tooLarge } from "../answer/answer.ts";
import { MAX_REQUEST_BYTES } from "../limits.ts";
import type { SentBody } from "./sent-body.ts";

/** Most bodies are inflated to a few times their size, in one piece then: 16 KB at a time cost a quarter more. */
const PIECE_TIMES = 4;
const LEAST_PIECE_BYTES = 16 * 1024;

export const CONTENT_ENCODINGS = ["identity", "gzip", "deflate", "br"] as const;

export function requestTooLarge(): Refusal {
  return tooLarge(
    "request_too_large",
    `The request's body is over ${MAX_REQUEST_BYTES} bytes after decompression; send smaller batches.`,
  );
}

/** A body after decompression, or why there is none. */
export type OpenedBody = { readonly content: Buffer } | { readonly refusal: Refusal };

/** Nobody hears this: the sender of the body has left. */
export const GONE = malformed("malformed_request", "The sender of the request is gone.");

/** Opens bodies. */
export interface BodyOpener {
  /** The content of a body as its caller wrote it; the one place where a body is inflated. */
  open(body: SentBody): OpenedBody;
}

/**
 * The key of a body is looked for in its content, and a moment later the same body is worked on. So the last content
 * that was inflated is kept for the next time that its body is opened: one content at the most, of `MAX_REQUEST_BYTES`.
 */
export function createBodyOpener(): BodyOpener {
  let last: { readonly body: SentBody; readonly opened: OpenedBody } | undefined;
  return {
    open: (body) => {
      const { bytes, encoding } = body;
      if (bytes === null) return { refusal: GONE };
      if (last?.body === body) {
        const { opened } = last;
        last = undefined;
        return opened;
      }
      const content = decompress(bytes, encoding);
      const opened = Buffer.isBuffer(content) ? { content } : { refusal: content };
      if (content !== bytes) last = { body, opened };
      return opened;
    },
  };
}

/**
 * The body as the caller wrote it, or the refusal. Synchronous: 500 KB take less time than the way to a thread and
 * back.
 */
function decompress(body: Buffer, encoding: string | undefined): Buffer | Refusal {
  const piece = Math.max(LEAST_PIECE_BYTES, PIECE_TIMES * body.length);
  const limit = { maxOutputLength: MAX_REQUEST_BYTES, chunkSize: Math.min(MAX_REQUEST_BYTES, piece) };
  try {
    switch (encoding?.trim().toLowerCase()) {
      case undefined:
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
    if (error instanceof RangeError) return requestTooLarge();
    return malformed("invalid_compression", "The body is not what its Content-Encoding says.");
  }
}

/** Deflate comes with a zlib header, as the standard has it, and without, as some clients have it. */
function hasZlibHeader(body: Buffer): boolean {
  return ((body[0] ?? 0) & 0x0f) === 8;
}

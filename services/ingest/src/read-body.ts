/**
 * Reading a request's body.
 *
 * Owns the count of bytes held by bodies that are being read or answered.
 * B1  What all requests hold together is bounded; over the bound a request is refused before more of it is kept.
 * B2  A body that is too large is discarded as it comes, and its sender still hears the answer.
 * B3  Whoever is given a body gives it back with `release`, once.
 */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { type Refusal, unavailable } from "./answer.ts";
import { decompress, requestTooLarge } from "./decompress.ts";
import { MAX_DISCARDED_BYTES, MAX_HELD_BODY_BYTES, MAX_REQUEST_BYTES } from "./limits.ts";

/** The sender went away in the middle; there is nobody to answer. */
class BodyCutOffError extends Error {
  override readonly name = "BodyCutOffError";
  readonly statusCode = 400;

  constructor(cause?: Error) {
    super("the body ended too early", { cause });
  }
}

/** A body after decompression, or why there is none. */
export type ReadBody = {
  readonly content: Buffer | Refusal;
  /** Bytes to give back (B3). */
  readonly heldBytes: number;
};

/** As much of a request as reading its body needs. */
export type BodyStream = Readable & Pick<IncomingMessage, "headers">;

export interface BodyReader {
  /** Calls back with the body, or with the error that ended the request before its body did. */
  read(request: BodyStream, done: (error: Error | null, body?: ReadBody) => void): void;
  release(body: ReadBody): void;
  readonly heldBytes: number;
}

const OVERLOADED = unavailable("unavailable", "More is sent than can be held at the moment; send again.");

export function createBodyReader(maxHeldBytes: number = MAX_HELD_BODY_BYTES): BodyReader {
  let heldBytes = 0;

  return {
    read: (request, done) => {
      const chunks: Buffer[] = [];
      let kept = 0;
      let seen = 0;
      let refusal: Refusal | undefined;
      let finished = false;

      const finish = (content: Buffer | Refusal) => {
        if (finished) return;
        finished = true;
        done(null, { content, heldBytes: kept });
      };
      const fail = (cause?: Error) => {
        if (finished) return;
        finished = true;
        heldBytes -= kept;
        done(new BodyCutOffError(cause));
      };
      const discard = (why: Refusal) => {
        refusal ??= why;
        chunks.length = 0;
        heldBytes -= kept;
        kept = 0;
      };

      request.on("data", (chunk: Buffer) => {
        if (finished) return;
        seen += chunk.length;
        if (seen > MAX_REQUEST_BYTES) discard(requestTooLarge());
        else if (heldBytes + chunk.length > maxHeldBytes) discard(OVERLOADED);
        if (refusal === undefined) {
          chunks.push(chunk);
          kept += chunk.length;
          heldBytes += chunk.length;
        } else if (seen > MAX_DISCARDED_BYTES) {
          finish(refusal);
        }
      });
      request.on("end", () => {
        if (refusal !== undefined) return finish(refusal);
        const [only] = chunks;
        const sent = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, kept);
        finish(decompress(sent, request.headers["content-encoding"]));
      });
      request.on("error", fail);
      request.on("close", () => fail());
    },
    release: (body) => {
      heldBytes -= body.heldBytes;
    },
    get heldBytes() {
      return heldBytes;
    },
  };
}

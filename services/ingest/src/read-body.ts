/**
 * Reading a request's body.
 *
 * Owns the count of bytes held by bodies that are being read or answered.
 * B1  What all requests hold together is bounded; over the bound a request is refused before more of it is kept, or a slower one
 *     cut off for it.
 * B2  A body that is too large is discarded as it comes, and its sender still hears the answer.
 * B3  Whoever has a body read gives its bytes back by `release`; the second time and later nothing happens. What arrived is not kept
 *     after that, also where it waits for its turn, and what arrives is not either.
 */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { malformed, type Refusal, unavailable } from "./answer.ts";
import { type BodySender, createBodyRoom } from "./body-room.ts";
import { requestTooLarge } from "./decompress.ts";
import { MAX_DISCARDED_BYTES, MAX_HELD_BODY_BYTES, MAX_REQUEST_BYTES } from "./limits.ts";

/** The sender went away in the middle; there is nobody to answer. */
class BodyCutOffError extends Error {
  override readonly name = "BodyCutOffError";
  readonly statusCode = 400;

  constructor(cause?: Error) {
    super("the body ended too early", { cause });
  }
}

/** A body as it was sent. */
export interface SentBody {
  /** Null when its bytes were given back: nobody waits for an answer any more (B3). */
  readonly bytes: Buffer | null;
  /** Its Content-Encoding, which nothing was made of yet. */
  readonly encoding: string | undefined;
}

/** A body, or why there is none. */
export type ReadBody = SentBody | Refusal;

export function isSentBody(body: ReadBody): body is SentBody {
  return "bytes" in body;
}

/** As much of a request as reading its body needs. */
export type BodyStream = Readable & Pick<IncomingMessage, "headers">;

/** The bytes that one request's body holds (B3). */
export interface HeldBody {
  release(): void;
}

export interface BodyReader {
  /** Calls back with the body, or with the error that ended the request before its body did. */
  read(request: BodyStream, sender: BodySender, done: (error: Error | null, body?: ReadBody) => void): HeldBody;
  /** Cuts off bodies that come too slowly; to be called about once a second. */
  sweep(): void;
  readonly heldBytes: number;
  /** For how many ms bodies have been refused because what is held leaves no room; 0 while there is some. */
  fullForMs(): number;
}

export interface BodyReaderOptions {
  /** What all bodies together may hold (B1). */
  readonly maxHeldBytes?: number | undefined;
  /** Ms, never going back. */
  readonly monotonicMs: () => number;
}

const OVERLOADED = unavailable("unavailable", "More is sent than can be held at the moment; send again.");

const TOO_SLOW = malformed("request_timeout", "The request did not arrive in time; send it again.", 408);

export function createBodyReader({ maxHeldBytes = MAX_HELD_BODY_BYTES, monotonicMs }: BodyReaderOptions): BodyReader {
  const room = createBodyRoom({ maxBytes: maxHeldBytes, monotonicMs });

  return {
    read: (request, sender, done) => {
      const chunks: Buffer[] = [];
      let seen = 0;
      let refusal: Refusal | undefined;
      let finished = false;
      let released = false;
      let sent: { bytes: Buffer | null } | undefined;

      const place = room.open(sender, () => {
        giveBack();
        finish(TOO_SLOW);
      });
      const giveBack = () => {
        chunks.length = 0;
        place.giveBack();
      };
      const finish = (content: ReadBody) => {
        if (isSentBody(content)) sent = content;
        if (finished) return;
        finished = true;
        place.complete();
        done(null, content);
      };
      const fail = (cause?: Error) => {
        if (finished) return;
        finished = true;
        place.complete();
        giveBack();
        done(new BodyCutOffError(cause));
      };
      const discard = (why: Refusal) => {
        refusal ??= why;
        giveBack();
      };

      request.on("data", (chunk: Buffer) => {
        if (finished || released) return;
        seen += chunk.length;
        if (seen > MAX_REQUEST_BYTES) discard(requestTooLarge());
        else if (refusal === undefined && !place.take(chunk.length)) discard(OVERLOADED);
        if (refusal === undefined) {
          chunks.push(chunk);
        } else if (seen > MAX_DISCARDED_BYTES) {
          finish(refusal);
        }
      });
      request.on("end", () => {
        if (refusal !== undefined) return finish(refusal);
        const [only] = chunks;
        const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
        finish({ bytes, encoding: request.headers["content-encoding"] });
      });
      request.on("error", fail);
      request.on("close", () => fail());
      return {
        release: () => {
          released = true;
          place.complete();
          giveBack();
          if (sent !== undefined) sent.bytes = null;
        },
      };
    },
    get heldBytes() {
      return room.heldBytes;
    },
    sweep: room.sweep,
    fullForMs: room.fullForMs,
  };
}

/**
 * Reading a request's body.
 *
 * Owns the count of bytes held by bodies that are being read or answered.
 * RB1  What all requests hold together is bounded (body-budget.ts); over the bound a request is refused before more of
 *      it is kept, or a slower request is cut off for it.
 * RB2  A body that is too large is discarded as it comes, and its sender still hears the answer.
 * RB3  Whoever has a body read gives its bytes back by `release`; the second time and later nothing happens. What
 *      arrived is not kept after that, also where it waits to be worked on, and neither is what arrives later.
 */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { malformed, type Refusal, unavailable } from "../answer/answer.ts";
import { createReadTurns, type ReadTurns } from "../fairness/read-turns.ts";
import { MAX_DISCARDED_BYTES, MAX_HELD_BODY_BYTES, MAX_REQUEST_BYTES, READ_PIECE_BYTES } from "../limits.ts";
import { type BodyBudget, type BodySender, type BodyShare, createBodyBudget } from "./body-budget.ts";
import { requestTooLarge } from "./decompress.ts";
import type { SentBody } from "./sent-body.ts";

/** The sender went away in the middle; there is nobody to answer. */
class BodyCutOffError extends Error {
  override readonly name = "BodyCutOffError";
  readonly statusCode = 400;

  constructor(cause?: Error) {
    super("the body ended too early", { cause });
  }
}

/** A body, or why there is none. */
export type ReadBody = SentBody | Refusal;

export function isSentBody(body: ReadBody): body is SentBody {
  return "bytes" in body;
}

/** As much of a request as reading its body needs. */
export type BodyStream = Readable & Pick<IncomingMessage, "headers">;

/** The body of one request. */
export interface HeldBody {
  /** Rejects when the request ended before its body did. */
  readonly content: Promise<ReadBody>;
  /** Gives back the bytes that the body holds (RB3). */
  release(): void;
}

export interface BodyReader {
  read(request: BodyStream, sender: BodySender): HeldBody;
  /** Cuts off bodies that come too slowly; to be called about once a second. */
  sweep(): void;
  readonly heldBytes: number;
  /** For how many ms bodies have been refused because too much is held; 0 while more may be. */
  fullForMs(): number;
}

export interface BodyReaderOptions {
  /** What all bodies together may hold (RB1). */
  readonly maxHeldBytes?: number | undefined;
  /** Ms, never going back. */
  readonly monotonicMs: () => number;
}

const OVERLOADED = unavailable("unavailable", "More is sent than can be held at the moment; send again.");

const TOO_SLOW = malformed("request_timeout", "The request did not arrive in time; send it again.", 408);

export function createBodyReader({ maxHeldBytes = MAX_HELD_BODY_BYTES, monotonicMs }: BodyReaderOptions): BodyReader {
  const budget = createBodyBudget({ maxBytes: maxHeldBytes, monotonicMs });
  const turns = createReadTurns();
  return {
    read: (request, sender) => new BodyReading(request, sender, { budget, turns }),
    get heldBytes() {
      return budget.heldBytes;
    },
    sweep: () => budget.sweep(),
    fullForMs: () => budget.fullForMs(),
  };
}

/** The reading of one body, from its first byte until what it holds was given back. */
class BodyReading implements HeldBody {
  readonly content: Promise<ReadBody>;
  readonly #resolve: (body: ReadBody) => void;
  readonly #reject: (error: Error) => void;
  readonly #share: BodyShare;
  readonly #turns: ReadTurns;
  readonly #request: BodyStream;
  readonly #source: string | null;
  readonly #announcedBytes: number;
  #chunks: Buffer[] = [];
  #seenBytes = 0;
  /** Why the body is refused that is being discarded. */
  #refusal: Refusal | undefined;
  #isFinished = false;
  #isReleased = false;
  #sent: { bytes: Buffer | null; readonly encoding: string | undefined } | undefined;

  constructor(
    request: BodyStream,
    sender: BodySender,
    { budget, turns }: { readonly budget: BodyBudget; readonly turns: ReadTurns },
  ) {
    this.#request = request;
    this.#turns = turns;
    this.#source = sender.source;
    this.#announcedBytes = Number(request.headers["content-length"] ?? Number.NaN);
    const { promise, resolve, reject } = Promise.withResolvers<ReadBody>();
    this.content = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#share = budget.open(sender, () => {
      this.#discard(TOO_SLOW);
      this.#finish(TOO_SLOW);
    });
    this.#waitForTurn();
    request.on("data", (chunk: Buffer) => this.#take(chunk));
    request.on("end", () => this.#end(request.headers["content-encoding"]));
    request.on("error", (error) => this.#fail(error));
    request.on("close", () => this.#fail());
  }

  release(): void {
    this.#isReleased = true;
    this.#share.complete();
    this.#giveBack();
    if (this.#sent !== undefined) this.#sent.bytes = null;
  }

  /**
   * A large body waits for its turn while the round has had its part (read-turns.ts). One that is refused does not:
   * what waits unread when its connection closes resets it, and the answer is lost.
   */
  #waitForTurn(): void {
    if (this.#refusal !== undefined) return;
    const isSmall = this.#announcedBytes <= READ_PIECE_BYTES;
    if (isSmall || this.#seenBytes >= this.#announcedBytes || !this.#turns.mustWait()) return;
    this.#request.pause();
    this.#turns.wait(this.#source, () => this.#request.resume());
  }

  #take(chunk: Buffer): void {
    this.#turns.count(chunk.length);
    this.#seenBytes += chunk.length;
    this.#keep(chunk);
    this.#waitForTurn();
  }

  #keep(chunk: Buffer): void {
    if (this.#isFinished || this.#isReleased) return;
    if (this.#seenBytes > MAX_REQUEST_BYTES) this.#discard(requestTooLarge());
    else if (this.#refusal === undefined && !this.#share.take(chunk.length)) this.#discard(OVERLOADED);
    if (this.#refusal === undefined) this.#chunks.push(chunk);
    else if (this.#seenBytes > MAX_DISCARDED_BYTES) this.#finish(this.#refusal);
  }

  #discard(why: Refusal): void {
    this.#refusal ??= why;
    this.#giveBack();
  }

  #end(encoding: string | undefined): void {
    if (this.#refusal !== undefined) {
      this.#finish(this.#refusal);
      return;
    }
    const [only] = this.#chunks;
    const bytes = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks);
    const sent = { bytes, encoding };
    this.#sent = sent;
    this.#finish(sent);
  }

  #finish(body: ReadBody): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#share.complete();
    this.#resolve(body);
  }

  #fail(cause?: Error): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#share.complete();
    this.#giveBack();
    this.#reject(new BodyCutOffError(cause));
  }

  #giveBack(): void {
    this.#chunks = [];
    this.#share.giveBack();
  }
}

/**
 * Reading a request's body.
 *
 * Owns: the bytes of the bodies that are being read or answered.
 * RB1  The bytes of all bodies together are bounded (body-budget.ts), counted by the buffers that hold them
 *      (gathered-bytes.ts). Over the bound a request is refused before more of it is kept, or a slower request is cut
 *      off for it.
 * - A body that is too large is discarded as it comes, and its sender still gets the answer.
 * RB3  The caller of a read gives its bytes back by `release`, once; later calls do nothing. After that the reader
 *      keeps nothing of the body, neither bytes that arrived, even where they wait to be worked on, nor later bytes.
 */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { malformed, type Refusal, unavailable } from "../answer/answer.ts";
import { createReadTurns, type ReadTurns } from "../fairness/read-turns.ts";
import { MAX_DISCARDED_BYTES, MAX_HELD_BODY_BYTES, MAX_REQUEST_BYTES, READ_PIECE_BYTES } from "../limits.ts";
import { type BodyBudget, type BodySender, type BodyShare, createBodyBudget } from "./body-budget.ts";
import { requestTooLarge } from "./decompress.ts";
import { GatheredBytes } from "./gathered-bytes.ts";
import type { SentBody } from "./sent-body.ts";

/** The sender left before its body's end; there is nobody to answer. */
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

/** The part of a request that reading its body needs. */
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
  /** For how many ms the budget has been full (BB4 of body-budget.ts); 0 while it is not. */
  fullForMs(): number;
}

export interface BodyReaderOptions {
  /** The most bytes that all bodies hold together (RB1). */
  readonly maxHeldBytes?: number | undefined;
  /** The monotonic clock, in ms. */
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

/** The reading of one body, from its first byte until its bytes were given back. */
class BodyReading implements HeldBody {
  readonly content: Promise<ReadBody>;
  readonly #resolve: (body: ReadBody) => void;
  readonly #reject: (error: Error) => void;
  readonly #share: BodyShare;
  readonly #turns: ReadTurns;
  readonly #request: BodyStream;
  readonly #source: string | null;
  readonly #announcedBytes: number;
  readonly #gathered = new GatheredBytes();
  #seenBytes = 0;
  /** Why the body is being discarded; undefined while it is not. */
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
   * Has a large body wait for its turn once enough was read in this round (read-turns.ts). A body that is refused does
   * not wait: unread bytes reset its connection when that closes, and the answer is lost.
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
    else if (this.#refusal === undefined && !this.#share.take(chunk.length, this.#gathered.costOf(chunk))) {
      this.#discard(OVERLOADED);
    }
    if (this.#refusal === undefined) this.#gathered.add(chunk);
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
    const sent = { bytes: this.#gathered.toBuffer(), encoding };
    this.#gathered.clear();
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
    this.#gathered.clear();
    this.#share.giveBack();
  }
}

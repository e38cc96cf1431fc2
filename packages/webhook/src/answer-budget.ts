/**
 * The budget of an answer, kept at the socket: it holds whatever the answer is made of, and whatever the parser does.
 *
 * Owns the counts of one connection from the start of a request to the start of the next.
 *  WB1  An answer has at most `overheadBytes` on the wire beside its body (head, interim answers, framing and trailers
 *       together) and `pieces` reads. The read that goes beyond returns nothing and destroys the socket.
 *  WB2  A read returns `PIECE_BYTES` at most, so that the parser's work between two looks at the budget is bounded.
 *       After a whole piece no more is read in the same turn of the event loop, so that others wait for one piece only.
 *  WB3  The time that an answer costs is the time from each read to the next call of `read`, in which the parser and
 *       its callbacks run. A piece counts with `MOST_PIECE_MS` at most: for the rest the process stood still. An answer
 *       of one small piece costs next to nothing and counts as nothing, so that most answers need no clock.
 *  WB4  Each line of a head or of trailers is some objects in the parser, a hundred times its bytes. So a head that has
 *       `HEAD_LINES` lines, interim answers counted, is read no further, and behind the head an answer has at most
 *       `FRAMING_BYTES` more than the bytes of its body.
 *  WB5  Beyond its first `FREE_CHUNKS` chunks a body has `LEAST_CHUNK_BYTES` a chunk in the mean. Each chunk is objects
 *       for the garbage collector, whose collections stop the process for tens of milliseconds.
 */
import type { Socket } from "node:net";
import type { Clock } from "@posthaste/core/time";
import { ANSWER_OVER_BUDGET, SendError } from "./errors.ts";

export interface AnswerLimits {
  readonly overheadBytes: number;
  readonly pieces: number;
}

/** In bytes. The parser needs a third of a millisecond for the dearest of this length. */
export const PIECE_BYTES = 4 * 1024;

/** More than any honest head has. A first piece may have three times as many. */
const HEAD_LINES = 256;
/** Twice a piece, since the body's bytes are known after their piece only. */
const FRAMING_BYTES = 2 * PIECE_BYTES;
const FREE_CHUNKS = 128;
const LEAST_CHUNK_BYTES = 64;
const LINE_FEED = 10;

/** A multiple of the time that the dearest piece needs on a slow machine, in ms. */
const MOST_PIECE_MS = 2;

/** A first piece of no more bytes is small. */
const SMALL_BYTES = 1024;

export class AnswerBudget {
  readonly limits: AnswerLimits;
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** The bytes that were read, without the body's. */
  #overheadBytes = 0;
  #bodyBytes = 0;
  #pieces = 0;
  #chunks = 0;
  #headLines = 0;
  /** The bytes that were read, without the body's, when the head ended; null before. */
  #bytesAtHead: number | null = null;
  #spentMs = 0;
  /** When the parser got the piece that it works on; null while it has none. */
  #readAtMs: number | null = null;

  constructor(limits: AnswerLimits, clock: Pick<Clock, "monotonicMs">) {
    this.limits = limits;
    this.#clock = clock;
  }

  /** A request begins: the bytes after it are its answer. */
  begin(): void {
    this.#overheadBytes = 0;
    this.#bodyBytes = 0;
    this.#pieces = 0;
    this.#chunks = 0;
    this.#headLines = 0;
    this.#bytesAtHead = null;
    this.#spentMs = 0;
    if (this.#readAtMs !== null) this.#readAtMs = this.#clock.monotonicMs();
  }

  /**
   * Takes a chunk of the body out of the count of bytes: the body has a bound of its own. False when the answer is over
   * its budget (WB5).
   */
  noteBody(bytes: number): boolean {
    this.#overheadBytes -= bytes;
    this.#bodyBytes += bytes;
    this.#chunks += 1;
    return this.#bodyBytes >= (this.#chunks - FREE_CHUNKS) * LEAST_CHUNK_BYTES;
  }

  /** The head of the answer ended in the piece that was read last. */
  noteHead(): void {
    this.#bytesAtHead = this.#overheadBytes;
  }

  /** Returns the ms that the answer has cost so far (WB3). */
  spentMs(): number {
    return this.#readAtMs === null ? this.#spentMs : this.#spentMs + this.#pieceMs(this.#readAtMs);
  }

  /** Puts the budget between the socket and the reader of the socket. */
  guard(socket: Socket): void {
    const read: (size?: number) => unknown = socket.read.bind(socket);
    let isResting = false;
    const goOn = () => {
      isResting = false;
      if (socket.destroyed) return;
      socket.resume();
      if (socket.readableLength > 0) socket.emit("readable");
    };
    socket.read = (size?: number) => {
      this.#endPiece();
      if (isResting && size !== 0) return null;
      const chunk = read(size ?? (socket.readableLength > PIECE_BYTES ? PIECE_BYTES : undefined));
      if (!(chunk instanceof Buffer)) return chunk;
      if (!this.#take(chunk)) {
        socket.destroy(new SendError(ANSWER_OVER_BUDGET, "the answer takes more to read than an answer may"));
        return null;
      }
      if (chunk.length >= PIECE_BYTES) {
        isResting = true;
        socket.pause();
        setImmediate(goOn);
      }
      return chunk;
    };
  }

  /** Counts a piece. False when the answer is over its budget (WB1, WB4). */
  #take(piece: Buffer): boolean {
    const bytes = piece.length;
    this.#overheadBytes += bytes;
    this.#pieces += 1;
    if (this.#overheadBytes > this.limits.overheadBytes || this.#pieces > this.limits.pieces) return false;
    if (this.#pieces === 1 && bytes <= SMALL_BYTES) return true;
    this.#readAtMs = this.#clock.monotonicMs();
    if (this.#bytesAtHead !== null) return this.#overheadBytes - this.#bytesAtHead <= FRAMING_BYTES + this.#bodyBytes;
    if (this.#headLines >= HEAD_LINES) return false;
    this.#headLines += linesOf(piece);
    return true;
  }

  #endPiece(): void {
    if (this.#readAtMs === null) return;
    this.#spentMs += this.#pieceMs(this.#readAtMs);
    this.#readAtMs = null;
  }

  #pieceMs(readAtMs: number): number {
    return Math.min(this.#clock.monotonicMs() - readAtMs, MOST_PIECE_MS);
  }
}

function linesOf(piece: Buffer): number {
  let lines = 0;
  for (let at = 0; at < piece.length; at += 1) if (piece[at] === LINE_FEED) lines += 1;
  return lines;
}

/**
 * Bounds how the body of a request is cut, whoever reads it. Each piece is an event of its own, and a chunk of one byte
 * takes six on the wire: a read of 64 KB was 10,900 pieces, which took 12 ms and held 3 MB.
 *
 * Owns: how many pieces and bytes of a request's body came.
 * WP1  Beyond its first `FREE_PIECES` pieces a body has `LEAST_PIECE_BYTES` a piece in the mean. The pieces of a slow
 *      line are as large as its packets.
 * WP2  Beyond `FREE_WIRE_BYTES` a body in chunks takes at most `WIRE_TIMES` its own bytes on the wire: extensions of
 *      chunks cost time and are no bytes of a body.
 * WP3  Of a connection that breaks one of them nothing more is parsed, not even what was read together with it.
 * WP4  A body is counted to its end, also after its request was answered and where nobody reads it.
 */
import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

export const FREE_PIECES = 64;
export const LEAST_PIECE_BYTES = 128;
export const FREE_WIRE_BYTES = 64 * 1024;
export const WIRE_TIMES = 4;
/** After how many pieces the bytes on the wire are looked at each time. */
const LOOKED_EVERY = 16;

/** The code of the error that a server's `clientError` gets for a body that is cut too small (WP1, WP2). */
export const BODY_CUT_TOO_SMALL = "BODY_CUT_TOO_SMALL";
export const CUT_TOO_SMALL_WORDS = `The body came in too many small pieces; send it whole, or in chunks of at least ${LEAST_PIECE_BYTES} bytes and without extensions.`;

export class BodyCutTooSmallError extends Error {
  override readonly name = "BodyCutTooSmallError";
  readonly code = BODY_CUT_TOO_SMALL;

  constructor() {
    super(CUT_TOO_SMALL_WORDS);
  }
}

/** A server's requests, as `IncomingMessage` of its options. */
export class CountedRequest extends IncomingMessage {
  /** Called once, when the body breaks a bound. */
  onCutTooSmall: (() => void) | null = null;
  /** How many bytes its pieces have in the mean at the least (WP1); less for a sender who is known. */
  leastPieceBytes = LEAST_PIECE_BYTES;
  #pieces = 0;
  #bytes = 0;
  /** Where the count of bytes on the wire began; undefined before it did. */
  #wireStart: { readonly wire: number; readonly bytes: number } | undefined;
  #isRefused = false;
  #isDropped = false;

  override push(piece: Buffer | null): boolean {
    if (piece === null) return super.push(piece);
    this.#pieces += 1;
    this.#bytes += piece.length;
    if (this.#isRefused || this.#isCutTooSmall()) {
      this.#refuse();
      return false;
    }
    return this.#isDropped || super.push(piece);
  }

  /** Drops the rest of the body, as Node does once the answer is written; Node's own would not be counted (WP4). */
  _dump(): void {
    this.#isDropped = true;
    this.resume();
  }

  #isCutTooSmall(): boolean {
    const pieces = this.#pieces;
    if (pieces > FREE_PIECES && this.#bytes < (pieces - FREE_PIECES) * this.leastPieceBytes) return true;
    if (pieces % LOOKED_EVERY !== 0) return false;
    const wire = this.socket.bytesRead;
    this.#wireStart ??= { wire, bytes: this.#bytes };
    const start = this.#wireStart;
    return wire - start.wire > FREE_WIRE_BYTES + (this.#bytes - start.bytes) * WIRE_TIMES;
  }

  #refuse(): void {
    stopParsing(this.socket);
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.onCutTooSmall?.();
  }
}

/** Keys of the calls of Node's parser: at a message's begin, headers, end of headers, body and end; after a read. */
const MESSAGE_CALLS = [0, 1, 2, 3, 4];
const AFTER_READ = 5;

/** Has the server read and drop what still comes. */
export function dropRest(socket: Socket): void {
  // A listener makes Node hand what it reads to listeners, of which the parser's own is one.
  socket.on("data", () => {}).removeAllListeners("data");
  socket.resume();
}

/**
 * Has nothing more of the socket parsed (WP3); what still comes is read and dropped. Node's parser cannot be stopped
 * within a read, so it gets nothing to call for the rest of it: its calls are what costs. It is one of a pool, and gets
 * its functions back before it is anybody else's.
 */
export function stopParsing(socket: Socket): void {
  const { parser } = socket as { readonly parser?: (Record<number, unknown> & { _consumed?: boolean }) | null };
  // It reads from the socket itself, unless somebody listens to that.
  if (parser?._consumed !== true || typeof parser[AFTER_READ] !== "function") return;
  const calls = [...MESSAGE_CALLS, AFTER_READ].map((key) => [key, parser[key]] as const);
  const restore = () => {
    for (const [key, call] of calls) parser[key] = call;
    if (!socket.destroyed) dropRest(socket);
  };
  for (const key of MESSAGE_CALLS) parser[key] = null;
  parser[AFTER_READ] = restore;
}

/**
 * Bounds how the body of a request is cut, for any reader of it. Each piece is an event of its own, and a chunk of one
 * byte takes six on the wire: a read of 64 KB was 10,900 pieces, which took 12 ms and held 3 MB.
 *
 * Owns: how many pieces and bytes of a request's body came.
 * WP1  Beyond its first `FREE_PIECES` pieces a body has `LEAST_PIECE_BYTES` a piece in the mean. The pieces of a slow
 *      line are as large as its packets.
 * WP2  Beyond `FREE_WIRE_BYTES` a body in chunks takes at most `WIRE_TIMES` its own bytes on the wire: extensions of
 *      chunks cost time and are no bytes of a body.
 * WP3  Of a connection that breaks one of them nothing more is parsed, not even bytes of the same read.
 * WP4  A body is counted to its end, also after its request was answered and where nobody reads it.
 */
import type { IncomingMessage } from "node:http";
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

/** Keys of the calls of Node's parser: at a message's begin, headers, end of headers, body and end; after a read. */
const MESSAGE_CALLS = [0, 1, 2, 3, 4];
const ON_BODY = 3;
const AFTER_READ = 5;

/** The part of Node's parser that is used here; it belongs to a socket until that is closed, then to another. */
export interface Parser {
  [key: number]: unknown;
  readonly incoming: IncomingMessage | null;
  readonly socket: Socket | null;
  readonly _consumed?: boolean;
}

/**
 * Counts the pieces of a request's body from now on, before its first; `onCutTooSmall` is called once, when they break
 * a bound. The parser's call is replaced, once for each parser: replacing a function of each request made all that is
 * done with a request slower, and a request whose answer is written gets no pieces (WP4). Returns how many requests
 * of the connection came in this read, with this one.
 */
export function countPieces(request: IncomingMessage, onCutTooSmall: () => void): number {
  const { socket } = request;
  let count = COUNTS.get(socket);
  if (count === undefined) {
    count = new PieceCount(socket);
    COUNTS.set(socket, count);
    countBodies(parserOf(socket));
  }
  return count.begin(request, onCutTooSmall);
}

/** Lets a body be cut into pieces of any size, for a sender who is known; WP2 still holds. */
export function letPiecesBeSmall(request: IncomingMessage): void {
  const count = COUNTS.get(request.socket);
  if (count?.request === request) count.leastPieceBytes = 0;
}

const COUNTS = new WeakMap<Socket, PieceCount>();
const COUNTING = new WeakSet<Parser>();

export function parserOf(socket: Socket): Parser | null {
  return (socket as { readonly parser?: Parser | null }).parser ?? null;
}

function countBodies(parser: Parser | null): void {
  if (parser === null || COUNTING.has(parser)) return;
  COUNTING.add(parser);
  const onBody = parser[ON_BODY] as (piece: Buffer) => void;
  parser[ON_BODY] = (piece: Buffer) => {
    const { socket, incoming } = parser;
    const count = socket === null ? undefined : COUNTS.get(socket);
    if (count === undefined || count.request !== incoming || count.take(piece.length)) onBody.call(parser, piece);
  };
}

/** The count of the request whose body a socket brings. */
class PieceCount {
  leastPieceBytes = LEAST_PIECE_BYTES;
  request: IncomingMessage | null = null;
  readonly #socket: Socket;
  #onCutTooSmall = () => {};
  #isRefused = false;
  /** The bytes on the wire when the last request began. */
  #begunAt = 0;
  #requestsOfRead = 0;
  #pieces = 0;
  #bytes = 0;
  /** Where the count of bytes on the wire began: with the piece at which it is first looked at. */
  #startWire = 0;
  #startBytes = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  begin(request: IncomingMessage, onCutTooSmall: () => void): number {
    const { bytesRead } = this.#socket;
    this.#requestsOfRead = bytesRead === this.#begunAt ? this.#requestsOfRead + 1 : 1;
    this.#begunAt = bytesRead;
    this.request = request;
    this.#onCutTooSmall = onCutTooSmall;
    this.leastPieceBytes = LEAST_PIECE_BYTES;
    this.#isRefused = false;
    this.#pieces = 0;
    this.#bytes = 0;
    return this.#requestsOfRead;
  }

  /** False where the body is cut too small, with this piece or before it. */
  take(bytes: number): boolean {
    if (this.#isRefused) return false;
    this.#pieces += 1;
    this.#bytes += bytes;
    if (!this.#isCutTooSmall()) return true;
    this.#isRefused = true;
    stopParsing(this.#socket);
    this.#onCutTooSmall();
    return false;
  }

  #isCutTooSmall(): boolean {
    const beyond = this.#pieces - FREE_PIECES;
    if (beyond > 0 && this.#bytes < beyond * this.leastPieceBytes) return true;
    if (this.#pieces % LOOKED_EVERY !== 0) return false;
    const wire = this.#socket.bytesRead;
    if (this.#pieces === LOOKED_EVERY) [this.#startWire, this.#startBytes] = [wire, this.#bytes];
    return wire - this.#startWire > FREE_WIRE_BYTES + (this.#bytes - this.#startBytes) * WIRE_TIMES;
  }
}

/** Has the server read and drop what still comes. */
export function dropRest(socket: Socket): void {
  // A listener makes Node hand its reads to listeners, of which the parser's own is one.
  socket.on("data", () => {}).removeAllListeners("data");
  socket.resume();
}

/**
 * Has nothing more of the socket parsed (WP3); further bytes are read and dropped. Node's parser cannot be stopped
 * within a read, so it gets nothing to call for the rest of it: its calls are the cost. It is one of a pool, and gets
 * its functions back before it is anybody else's.
 */
export function stopParsing(socket: Socket): void {
  const parser = parserOf(socket);
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

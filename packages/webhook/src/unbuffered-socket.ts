/**
 * A TCP socket that hands its bytes to the listener of `readable` at once, past the stream's own buffer.
 *
 * undici reads a socket's bytes as soon as they are there. Through a stream, each read allocates 64 KB, cuts them to
 * size and leaves them to the garbage collector, and the stream keeps books of a buffer that never holds anything: a
 * tenth of a request's cost. net's `onread` brings the bytes in a buffer that is used again
 * (https://nodejs.org/api/net.html#socketconnectoptions-connectlistener).
 *
 * US1  The bytes of a read are there for the length of one `readable`. Bytes that nobody has read by then go the
 *      stream's ordinary way, and so does everything about the end of the socket.
 * US2  A chunk belongs to its reader: the next read of any socket overwrites the shared buffer.
 */
import { Socket, type SocketConstructorOpts } from "node:net";
import { PIECE_BYTES } from "./answer-budget.ts";

/** The buffer of all sockets: a read and its callback run without a break. A read has a piece's bytes at most (WB2). */
const shared = Buffer.allocUnsafeSlow(PIECE_BYTES);

export class UnbufferedSocket extends Socket {
  #arrived: Buffer | null = null;

  constructor(options: Omit<SocketConstructorOpts, "onread">) {
    super({ ...options, onread: { buffer: shared, callback: (length) => this.#onBytes(length) } });
  }

  override read(size?: number): unknown {
    if (size === 0 || this.readableLength > 0) return super.read(size);
    const chunk = this.#arrived;
    this.#arrived = null;
    return chunk;
  }

  /** Returns false to be sent nothing more until the stream is read. */
  #onBytes(length: number): boolean {
    const chunk = Buffer.allocUnsafe(length);
    shared.copy(chunk, 0, 0, length);
    if (this.readableLength > 0) return this.push(chunk);
    this.#arrived = chunk;
    this.emit("readable");
    if (this.#arrived === null) return true;
    this.#arrived = null;
    return this.push(chunk);
  }
}

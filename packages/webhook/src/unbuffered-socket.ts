/**
 * A TCP socket whose bytes go to whoever listens for `readable` at once, past the stream's own buffer.
 *
 * undici reads what a socket has as soon as it is there. The way through a stream costs an allocation of 64 KB a read,
 * its being cut to size, its collection, and the bookkeeping of a buffer that never holds anything: a tenth of a
 * request. net's `onread` brings the bytes in a buffer that is used again instead
 * (https://nodejs.org/api/net.html#socketconnectoptions-connectlistener).
 *
 * US1  What a read brought stands for the length of one `readable`; what nobody has read by then goes the stream's
 *      ordinary way, and so does all that concerns the end of the socket.
 * US2  A chunk is the reader's own: the shared buffer is overwritten by the next read of any socket.
 */
import { Socket, type SocketConstructorOpts } from "node:net";

/** As much as one read brings at most; a read and its callback are one piece, so one buffer serves all sockets. */
const READ_BYTES = 64 * 1024;
const shared = Buffer.allocUnsafeSlow(READ_BYTES);

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

  /** Answers false to be sent nothing more until the stream is read. */
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

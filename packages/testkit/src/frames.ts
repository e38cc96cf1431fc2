/** Kafka's framing: four bytes of length, then so many bytes; in both directions of a connection. */

const LENGTH_BYTES = 4;
/** Of a request's `api_key` field. */
export const PRODUCE = 0;

/** Cuts a stream of bytes into frames, each with its length in front. */
export class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that `chunk` completed. */
  push(chunk: Buffer): readonly Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    while (this.#rest.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + this.#rest.readInt32BE(0);
      if (this.#rest.length < end) break;
      frames.push(this.#rest.subarray(0, end));
      this.#rest = this.#rest.subarray(end);
    }
    return frames;
  }
}

/** The request of a frame, as the protocol numbers it. */
export function apiKeyOf(request: Buffer): number {
  return request.readInt16BE(LENGTH_BYTES);
}

/** The id that ties an answer to its request. */
export function correlationIdOf(frame: Buffer, side: "request" | "answer"): number {
  return frame.readInt32BE(side === "request" ? LENGTH_BYTES + 4 : LENGTH_BYTES);
}

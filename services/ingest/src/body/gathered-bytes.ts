/**
 * The bytes of a body that comes in pieces. A piece is an object of some hundreds of bytes beside its own.
 *
 * GB1  A piece of some size is kept as it came, and counts with its object: copying it costs more than that. So is the
 *      first, which mostly is the whole. Others are copied into blocks. So the reader keeps little more than
 *      `heldBytes`, however the body was cut.
 */

/** A block's bytes. */
export const BLOCK_BYTES = 4 * 1024;
const LEAST_BLOCK_BYTES = 1024;
/** From how many bytes on a piece is kept as it came. */
export const KEPT_BYTES = 512;
/** The bytes of a piece's object beside its content: 440 to 540 were measured. */
const OBJECT_BYTES = 480;

export class GatheredBytes {
  /** The blocks that take no more bytes. */
  #full: Buffer[] = [];
  #block: Buffer | null = null;
  #used = 0;
  #heldBytes = 0;

  /** The bytes held, with the free part of the block. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** How many objects are held. */
  get parts(): number {
    return this.#full.length + (this.#block === null ? 0 : 1);
  }

  /** How many bytes more are held once the piece is added. */
  costOf({ length }: Buffer): number {
    if (this.parts === 0) return length;
    if (this.#isKept(length)) return length + OBJECT_BYTES;
    const free = this.#free();
    return length <= free ? 0 : this.#nextBlockBytes(length - free);
  }

  add(piece: Buffer): void {
    const cost = this.costOf(piece);
    this.#heldBytes += cost;
    if (this.#isKept(piece.length)) {
      this.#closeBlock();
      this.#full.push(piece);
      return;
    }
    const copied = Math.min(piece.length, this.#free());
    this.#copy(piece, 0, copied);
    if (copied === piece.length) return;
    this.#closeBlock();
    this.#block = Buffer.allocUnsafeSlow(cost);
    this.#copy(piece, copied, piece.length);
  }

  /** All bytes in their order. */
  toBuffer(): Buffer {
    this.#closeBlock();
    const [only] = this.#full;
    return this.#full.length === 1 && only !== undefined ? only : Buffer.concat(this.#full);
  }

  clear(): void {
    this.#full = [];
    this.#block = null;
    this.#used = 0;
    this.#heldBytes = 0;
  }

  #isKept(length: number): boolean {
    return this.parts === 0 || (length >= KEPT_BYTES && length > this.#free());
  }

  #free(): number {
    return this.#block === null ? 0 : this.#block.length - this.#used;
  }

  /** A block is no larger than the held bytes, so that a small body holds little. */
  #nextBlockBytes(least: number): number {
    return Math.max(least, LEAST_BLOCK_BYTES, Math.min(BLOCK_BYTES, this.#heldBytes));
  }

  #copy(piece: Buffer, from: number, to: number): void {
    if (this.#block === null || from === to) return;
    piece.copy(this.#block, this.#used, from, to);
    this.#used += to - from;
  }

  #closeBlock(): void {
    if (this.#block !== null) this.#full.push(this.#block.subarray(0, this.#used));
    this.#block = null;
    this.#used = 0;
  }
}

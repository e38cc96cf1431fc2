/**
 * The kept start of a response body. It owns one block of memory: a body may come in pieces of a byte, and a list of
 * them would take a hundred times as much as they hold.
 */

/** The least size of a block that grows, in bytes. */
const LEAST_BLOCK = 256;

export class KeptBody {
  readonly #most: number;
  #block: Buffer | null = null;
  #kept = 0;
  #arrived = 0;
  #hasEnded = false;

  /** `most`: the most bytes that are kept. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The bytes of the body that arrived, kept or not. */
  get arrived(): number {
    return this.#arrived;
  }

  /** The kept bytes; null when none arrived. */
  get bytes(): Buffer | null {
    return this.#block?.subarray(0, this.#kept) ?? null;
  }

  /** The body went on, or did not come to its end. */
  get isCut(): boolean {
    return !this.#hasEnded || this.#arrived > this.#kept;
  }

  add(chunk: Buffer): void {
    const left = this.#most - this.#kept;
    // Of pieces of a byte a view of each would be as many objects again.
    const piece = chunk.length <= left ? chunk : chunk.subarray(0, left);
    this.#arrived += chunk.length;
    if (this.#block === null) this.#block = piece;
    else if (piece.length > 0) this.#append(this.#block, piece);
    this.#kept += piece.length;
  }

  end(): void {
    this.#hasEnded = true;
  }

  #append(block: Buffer, piece: Buffer): void {
    const needed = this.#kept + piece.length;
    // The first block is a piece as it came, which most bodies are, and is no block to write to.
    const isFull = needed > block.length || this.#kept === block.length;
    const target = isFull ? Buffer.allocUnsafeSlow(this.#grown(needed)) : block;
    if (isFull) block.copy(target, 0, 0, this.#kept);
    piece.copy(target, this.#kept);
    this.#block = target;
  }

  #grown(needed: number): number {
    return Math.min(this.#most, Math.max(LEAST_BLOCK, 2 * needed));
  }
}

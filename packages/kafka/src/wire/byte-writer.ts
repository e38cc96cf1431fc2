/** Writing Kafka's primitive types one after the other, into a buffer whose size is known beforehand. */

const TWO_TO_32 = 2 ** 32;

/**
 * The writer writes at its offset and moves the offset on. It may lose silently the bytes that do not fit into the
 * buffer: the caller compares `offset` with the size that it counted.
 */
export class ByteWriter {
  readonly target: Buffer;
  #offset = 0;

  constructor(target: Buffer) {
    this.target = target;
  }

  /** Where the next byte goes. */
  get offset(): number {
    return this.#offset;
  }

  int8(value: number): this {
    this.#offset = this.target.writeInt8(value, this.#offset);
    return this;
  }

  int16(value: number): this {
    this.#offset = this.target.writeInt16BE(value, this.#offset);
    return this;
  }

  int32(value: number): this {
    this.#offset = this.target.writeInt32BE(value, this.#offset);
    return this;
  }

  /** Writes a whole number that a double holds exactly, in 64 bits. */
  int64(value: number): this {
    this.#offset = this.target.writeInt32BE(Math.floor(value / TWO_TO_32), this.#offset);
    this.#offset = this.target.writeUInt32BE(value >>> 0, this.#offset);
    return this;
  }

  /** Writes a 32-bit number in zigzag form, seven bits a byte. */
  varint(value: number): this {
    let rest = (value << 1) ^ (value >> 31);
    for (; (rest & ~0x7f) !== 0; rest >>>= 7) {
      this.target[this.#offset] = (rest & 0x7f) | 0x80;
      this.#offset += 1;
    }
    this.target[this.#offset] = rest;
    this.#offset += 1;
    return this;
  }

  bytes(value: Uint8Array): this {
    this.target.set(value, this.#offset);
    this.#offset += value.length;
    return this;
  }

  /** Writes a text as UTF-8, without its length. */
  text(value: string): this {
    this.#offset += this.target.write(value, this.#offset);
    return this;
  }

  /** Moves on over bytes that the caller writes later. */
  skip(bytes: number): this {
    this.#offset += bytes;
    return this;
  }
}

/** The number of bytes that `varint` writes for the value. */
export function varintBytes(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0;
  if (zigzag < 1 << 7) return 1;
  if (zigzag < 1 << 14) return 2;
  if (zigzag < 1 << 21) return 3;
  return zigzag < 1 << 28 ? 4 : 5;
}

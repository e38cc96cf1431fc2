/** Writing Kafka's primitive types one after the other, into a buffer whose size is known beforehand. */

const TWO_TO_32 = 2 ** 32;

/**
 * Writes at its offset and moves on. What does not fit may be lost silently: compare `offset` with what was counted.
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

  /** A whole number that a double holds exactly. */
  int64(value: number): this {
    this.#offset = this.target.writeInt32BE(Math.floor(value / TWO_TO_32), this.#offset);
    this.#offset = this.target.writeUInt32BE(value >>> 0, this.#offset);
    return this;
  }

  /** A 32-bit number, zigzag, seven bits a byte. */
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

  /** UTF-8, without its length. */
  text(value: string): this {
    this.#offset += this.target.write(value, this.#offset);
    return this;
  }

  /** Leaves bytes out that are written later. */
  skip(bytes: number): this {
    this.#offset += bytes;
    return this;
  }
}

/** What `varint` takes for the value. */
export function varintBytes(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0;
  if (zigzag < 1 << 7) return 1;
  if (zigzag < 1 << 14) return 2;
  if (zigzag < 1 << 21) return 3;
  return zigzag < 1 << 28 ? 4 : 5;
}

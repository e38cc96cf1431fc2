/** Fields of Kafka's protocol as bytes, for a test that plays a broker. */

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

/** A text with its length in front. */
export function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([int16(bytes.length), bytes]);
}

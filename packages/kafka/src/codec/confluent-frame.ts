/** The Confluent wire format: a zero byte, the writer schema's id in four bytes, the Avro value. */
import { PosthasteError } from "@posthaste/core/errors";

export const FRAME_BYTES = 5;
const MAGIC = 0;

export function isFramed(bytes: Buffer): boolean {
  return bytes.length >= FRAME_BYTES && bytes[0] === MAGIC;
}

/** Returns the id of the writer's schema. Throws `invalid_input` for bytes that are not in this format. */
export function schemaIdOf(bytes: Buffer): number {
  if (!isFramed(bytes)) {
    throw new PosthasteError("invalid_input", "a value is not in the Confluent wire format");
  }
  return bytes.readInt32BE(1);
}

/** Writes the header into the first `FRAME_BYTES` of `target`. */
export function writeFrame(target: Buffer, schemaId: number): void {
  target[0] = MAGIC;
  target.writeInt32BE(schemaId, 1);
}

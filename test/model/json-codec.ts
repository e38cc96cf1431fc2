/** Codecs without a registry: JSON in place of Avro. A schema that a process has not met yet must be learnt. */
import type { Codec } from "@posthaste/contracts/codec";

const LEARNING_MS = 5;

/** A codec for values of plain JSON. Bytes in the field `body` travel as text. `prefetch` takes a moment once. */
export function createJsonCodec<T extends object>(): Codec<T> {
  let isKnown = false;
  return {
    encode: (value) => Buffer.from(JSON.stringify("body" in value ? { ...value, body: textOf(value.body) } : value)),
    decode: (bytes) => {
      const value = JSON.parse(bytes.toString());
      return typeof value.body === "string" ? { ...value, body: Buffer.from(value.body) } : value;
    },
    prefetch: () => {
      if (isKnown) return undefined;
      return new Promise<void>((resolve) =>
        setTimeout(() => {
          isKnown = true;
          resolve();
        }, LEARNING_MS),
      );
    },
  };
}

function textOf(bytes: unknown): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : "";
}

/** What crosses a topic is bytes; a codec is the two functions between the bytes and our values. */
import type { SchemaName } from "./topics.ts";

/**
 * Avro in the Confluent wire format (one zero byte, the writer schema's id in four, the value), for one subject.
 * `encode` and `decode` are synchronous, since they run once a record.
 */
export interface Codec<T> {
  /** Throws PosthasteError `invalid_input` when the value does not fit the schema. */
  readonly encode: (value: T) => Buffer;
  /**
   * Throws PosthasteError `unknown_schema` when `prefetch` was not called for bytes of this writer, `invalid_input` for
   * bytes that are no such value, those of another schema included.
   */
  readonly decode: (bytes: Buffer) => T;
  /**
   * Fetches the writer's schema when it is not known yet; undefined (no promise, no cost) when it is. Rejects with
   * `unknown_schema` when the registry has none of that id, `registry_unavailable` when it does not answer.
   */
  readonly prefetch: (bytes: Buffer) => Promise<void> | undefined;
}

/** Opens the codec of a schema: registers it under its subject when needed. The registry's client implements it. */
export type OpenCodec = <T>(schema: SchemaName) => Promise<Codec<T>>;

/** The codec of values that are written as they are, and of which `toPlain` makes what it decodes. */
export function withDecoded<Raw, Plain extends Raw>(raw: Codec<Raw>, toPlain: (value: Raw) => Plain): Codec<Plain> {
  return { encode: raw.encode, prefetch: raw.prefetch, decode: (bytes) => toPlain(raw.decode(bytes)) };
}

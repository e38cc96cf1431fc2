/** A codec: the functions that turn our values into the bytes of a record, and back. */
import type { SchemaName } from "./topics.ts";

/**
 * A codec for one subject: Avro in the Confluent wire format (a zero byte, the writer schema's id in four bytes, the
 * value). `encode` and `decode` are synchronous, since they run once for each record.
 */
export interface Codec<T> {
  /** Throws PosthasteError `invalid_input` when the value does not fit the schema. */
  readonly encode: (value: T) => Buffer;
  /**
   * Throws a PosthasteError: `unknown_schema` when the codec does not know the writer's schema, which `prefetch`
   * fetches; `invalid_input` for bytes that are no such value, for example of another schema.
   */
  readonly decode: (bytes: Buffer) => T;
  /**
   * Fetches the writer's schema. Returns undefined, without a promise, when the codec knows it. Rejects with
   * `unknown_schema` when the registry does not have that id, and with `registry_unavailable` when it does not answer.
   */
  readonly prefetch: (bytes: Buffer) => Promise<void> | undefined;
}

/**
 * Opens the codec of a schema, and registers the schema under its subject where needed. packages/kafka implements it.
 */
export type OpenCodec = <T>(schema: SchemaName) => Promise<Codec<T>>;

/** A codec that encodes values as `raw` does, and passes each value that `raw` decodes through `toPlain`. */
export function withDecoded<Raw, Plain extends Raw>(raw: Codec<Raw>, toPlain: (value: Raw) => Plain): Codec<Plain> {
  return { encode: raw.encode, prefetch: raw.prefetch, decode: (bytes) => toPlain(raw.decode(bytes)) };
}

/**
 * Avro values in the Confluent wire format, synchronously: the registry's client wraps every record in promises, which
 * costs as much as the encoding.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { PosthasteError } from "@posthaste/core/errors";
import { FRAME_BYTES, isFramed, schemaIdOf, writeFrame } from "./confluent-frame.ts";

/** As much of an avsc type as a codec uses. */
export interface AvroType {
  /**
   * Writes at `position`; answers where it ended, or the negative number of bytes that lacked. Throws for a value that
   * does not fit.
   */
  encode(value: unknown, buffer: Buffer, position: number): number;
  /** Throws for bytes that are no value of the writer's type. */
  fromBuffer(bytes: Buffer, resolver?: AvroResolver): unknown;
  /** How to read what `writer` wrote. Throws when the two do not go together. */
  createResolver(writer: AvroType): AvroResolver;
}

/** Opaque. */
export type AvroResolver = object;

export interface AvroCodecOptions {
  /** What errors call the schema. */
  readonly name: string;
  readonly schemaId: number;
  readonly type: AvroType;
  /** Fetches the schema that a writer of another version used; null when there is one and it is not Avro. */
  readonly fetchType: (schemaId: number) => Promise<AvroType | null>;
}

/** Most records fit; one that does not is encoded again into a buffer that holds it. */
const SCRATCH_BYTES = 64 * 1024;

export function createAvroCodec<T>({ name, schemaId, type, fetchType }: AvroCodecOptions): Codec<T> {
  let scratch = Buffer.allocUnsafe(SCRATCH_BYTES);
  writeFrame(scratch, schemaId);
  /** By the writer's schema; null where that is one of something else, so that nothing of it is read here. */
  const resolvers = new Map<number, AvroResolver | null>();

  const encode = (value: T): Buffer => {
    let end: number;
    try {
      end = type.encode(value, scratch, FRAME_BYTES);
    } catch (cause) {
      throw new PosthasteError("invalid_input", `a value does not fit schema ${name}`, { cause });
    }
    if (end < 0) {
      scratch = Buffer.allocUnsafe(scratch.length - end);
      writeFrame(scratch, schemaId);
      return encode(value);
    }
    return Buffer.from(scratch.subarray(0, end));
  };

  const decode = (bytes: Buffer): T => {
    const writerId = schemaIdOf(bytes);
    const resolver = writerId === schemaId ? undefined : resolvers.get(writerId);
    if (writerId !== schemaId && resolver === undefined) {
      throw new PosthasteError("unknown_schema", `schema ${writerId} of a record was not learnt`);
    }
    if (resolver === null) {
      throw new PosthasteError("invalid_input", `what schema ${writerId} wrote is no value of schema ${name}`);
    }
    try {
      return type.fromBuffer(bytes.subarray(FRAME_BYTES), resolver) as T;
    } catch (cause) {
      throw new PosthasteError("invalid_input", `bytes are no value of schema ${name}`, { cause });
    }
  };

  const prefetch = (bytes: Buffer): Promise<void> | undefined => {
    // Of bytes in another format there is nothing to learn; `decode` says what is wrong with them.
    if (!isFramed(bytes)) return undefined;
    const writerId = schemaIdOf(bytes);
    if (writerId === schemaId || resolvers.has(writerId)) return undefined;
    return prefetchWriter(writerId);
  };

  const prefetchWriter = async (writerId: number): Promise<void> => {
    const writer = await fetchType(writerId);
    resolvers.set(writerId, writer === null ? null : resolverOf(type, writer));
  };

  return { encode, decode, prefetch };
}

/** Null when the two schemas do not go together: a record that somebody wrote to the wrong topic. */
function resolverOf(reader: AvroType, writer: AvroType): AvroResolver | null {
  try {
    return reader.createResolver(writer);
  } catch {
    return null;
  }
}

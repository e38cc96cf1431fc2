/**
 * Encodes and decodes Avro values in the Confluent wire format, synchronously. The registry's own client wraps every
 * record in promises, which costs as much as the encoding itself.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { PosthasteError } from "@posthaste/core/errors";
import { FRAME_BYTES, isFramed, schemaIdOf, writeFrame } from "./confluent-frame.ts";

/** The part of an avsc type that a codec uses. */
export interface AvroType {
  /**
   * Writes the value at `position`. Returns the position behind the value or, where the buffer is too small, the number
   * of missing bytes as a negative number. Throws for a value that is not of the type.
   */
  encode(value: unknown, buffer: Buffer, position: number): number;
  /** Reads a value. Throws for bytes that are no value of the writer's type. */
  fromBuffer(bytes: Buffer, resolver?: AvroResolver): unknown;
  /** Makes a resolver, which reads values of the type `writer`. Throws when the two types are not compatible. */
  createResolver(writer: AvroType): AvroResolver;
}

/** A resolver of avsc, which only avsc looks into. */
export type AvroResolver = object;

export interface AvroCodecOptions {
  /** The schema's name in errors. */
  readonly name: string;
  readonly schemaId: number;
  readonly type: AvroType;
  /** Fetches a writer's schema by its id. Returns null for a schema that exists and is not Avro. */
  readonly fetchType: (schemaId: number) => Promise<AvroType | null>;
}

/** The size of the buffer at first, into which most records fit. A larger record makes a larger buffer. */
const SCRATCH_BYTES = 64 * 1024;

export function createAvroCodec<T>({ name, schemaId, type, fetchType }: AvroCodecOptions): Codec<T> {
  let scratch = Buffer.allocUnsafe(SCRATCH_BYTES);
  writeFrame(scratch, schemaId);
  /** Resolvers by the id of the writer's schema; null for a schema of other records, which are never read here. */
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
    // Bytes in another format name no schema to fetch; `decode` names their fault.
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

/** Returns null when the two schemas are not compatible: somebody then wrote a record to the wrong topic. */
function resolverOf(reader: AvroType, writer: AvroType): AvroResolver | null {
  try {
    return reader.createResolver(writer);
  } catch {
    return null;
  }
}
